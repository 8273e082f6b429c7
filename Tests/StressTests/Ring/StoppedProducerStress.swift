import ReactorCore
import Synchronization
import TestSupport
import Testing

extension StressTests {
  /// Producers that stop between claim and publication. They use the raw ring, since code outside of the typed one
  /// cannot stop there; the system can stop a thread there.
  @Suite struct StoppedProducerStress {
    private static let capacities = [2, 4, 64]

    @Test
    func `elements that are claimed later wait for a stopped producer, and are not lost`() {
      Scenario.announce("stopped producer, step by step")
      for capacity in Self.capacities {
        for start in RingLoad.Start.allCases {
          Scenario("stopped producer, capacity \(capacity), start \(start)").run {
            stopOnce(capacity, start, $0)
          }
        }
      }
    }

    /// One thread plays all parts, so it is known what each step must return.
    private func stopOnce(
      _ capacity: Int, _ start: RingLoad.Start, _ scenario: Scenario
    ) {
      let payloads = Lifetimes()
      let ring = RawItemRing(
        capacity: capacity, startingAt: start.cursor(halfway: 3 * capacity / 2), payloads: payloads)
      for lap in 0..<4 {
        guard case .claimed(let stopped) = ring.raw.tryClaim(1) else {
          Issue.record("an empty ring is full in lap \(lap): \(scenario)")
          return
        }
        for sequence in 1..<capacity { #expect(ring.send(0, sequence), "\(scenario), lap \(lap)") }
        #expect(ring.raw.tryClaim(1) == .full, "\(scenario), lap \(lap)")
        #expect(ring.raw.wasCount == capacity, "\(scenario), lap \(lap)")
        #expect(ring.receiveOne() == nil, "\(scenario), lap \(lap)")
        ring.publish(0, 0, at: stopped)
        for sequence in 0..<capacity {
          #expect(ring.receiveOne()?.sequence == sequence, "\(scenario), lap \(lap)")
        }
        #expect(ring.raw.isIdle, "\(scenario), lap \(lap)")
        #expect(payloads.alive == 0, "\(scenario), lap \(lap)")
      }
      ring.raw.destroy()
      #expect(payloads.total == 4 * capacity, "\(scenario)")
    }

    @Test
    func `producers that stop now and then lose nothing`() {
      Scenario.announce("stopped producers")
      for capacity in Self.capacities {
        for producers in [2, 4, 8] {
          Scenario("stopped producers, capacity \(capacity), \(producers) producers")
            .run { stopRandomly(capacity, producers, $0) }
        }
      }
    }

    private func stopRandomly(
      _ capacity: Int, _ producers: Int, _ scenario: Scenario
    ) {
      let elements = StressMode.rounds(400)
      let payloads = Lifetimes()
      let ring = RawItemRing(
        capacity: capacity, startingAt: (1 << 56) - UInt64(elements), payloads: payloads)
      let finished = Shared(Atomic(0))
      let crew = Crew(of: producers) { producer in
        var disturbance = Disturbance(scenario.generator(producer))
        var sequence = 0
        while sequence < elements {
          if disturbance.happens(onceIn: 8) { ring.abandon(stopping: { disturbance.stop() }) }
          if ring.send(producer, sequence, stopping: { disturbance.stop() }) {
            sequence += 1
          } else {
            disturbance.idle()
          }
        }
        finished.value.wrappingAdd(1, ordering: .sequentiallyConsistent)
      }
      var checker = SequenceChecker(producers: producers)
      var disturbance = Disturbance(scenario.generator(-1))
      while true {
        let wasLast = finished.value.load(ordering: .sequentiallyConsistent) == producers
        if let item = ring.receiveOne() {
          checker.receive(item)
        } else if wasLast {
          break
        } else {
          disturbance.idle()
        }
      }
      crew.join()
      #expect(checker.complaint == nil, "\(scenario)")
      #expect(checker.next == Array(repeating: elements, count: producers), "\(scenario)")
      #expect(ring.raw.isIdle, "\(scenario)")
      ring.raw.destroy()
      #expect(payloads.alive == 0, "\(scenario)")
      #expect(payloads.total == elements * producers, "\(scenario)")
    }
  }
}

/// A raw ring of items, with the three steps of a send.
private struct RawItemRing: Sendable {
  let raw: CurrentCore.Ring
  private let payloads: Lifetimes

  init(capacity: Int, startingAt start: UInt64, payloads: Lifetimes) {
    self.payloads = payloads
    do {
      raw = try CurrentCore.Ring(
        capacity: capacity, size: MemoryLayout<Item>.stride, alignment: MemoryLayout<Item>.alignment,
        startingAt: start)
    } catch {
      fatalError("no ring: \(error)")
    }
  }

  /// Claims two slots, if there is room, and abandons them.
  func abandon(stopping stop: () -> Void) {
    guard case .claimed(let cursor) = raw.tryClaim(2) else { return }
    stop()
    raw.abandon(cursor, count: 2)
  }

  func send(_ producer: Int, _ sequence: Int, stopping stop: () -> Void = {}) -> Bool {
    guard case .claimed(let cursor) = raw.tryClaim(1) else { return false }
    stop()
    publish(producer, sequence, at: cursor)
    return true
  }

  func publish(_ producer: Int, _ sequence: Int, at cursor: UInt64) {
    let item = Item(producer: producer, sequence: sequence, countedBy: payloads)
    raw.payload(cursor).initializeMemory(as: Item.self, to: item)
    raw.publish(cursor, count: 1)
  }

  func receiveOne() -> Item? {
    while true {
      let head = raw.head
      switch raw.peek(head) {
      case .notReady:
        return nil
      case .skip(let count):
        raw.release(head &+ UInt64(count))
      case .run:
        let item = raw.payload(head).assumingMemoryBound(to: Item.self).move()
        raw.release(head &+ 1)
        return item
      }
    }
  }
}
