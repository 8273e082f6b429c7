import TestSupport
import Testing

@testable import ReactorCore
@testable import ReactorRuntime

extension StressTests {
  /// Mailboxes that grow while many threads send, also from inside turns. A mailbox grows only a few times in its
  /// life, so there are many of them.
  @Suite struct GrowthStress {
    @Test
    func `a mailbox that grows keeps one order, whatever its parts are doing`() {
      Scenario.announce("growth, step by step")
      for capacity in [16, 64, 1024] {
        Scenario("growth, step by step, capacity \(capacity)").run { scenario in
          for round in 0..<StressMode.rounds(3200 / capacity) {
            let play = GrowthPlay(capacity: capacity, steps: 6 * capacity, scenario.generator(round))
            let complaint = play.run()
            #expect(complaint == nil, "\(scenario), round \(round): \(complaint ?? "")")
            if complaint != nil { return }
          }
        }
      }
    }

    @Test(arguments: [Place.caller, .parkingLoop])
    func `mailboxes that grow while they are full keep the order`(place: Place) {
      Scenario.announce("growth, \(place)")
      for capacity in [16, 64] {
        Scenario("growth, \(place), capacity \(capacity)").run {
          grow(place, capacity, $0)
        }
      }
    }

    /// One reactor after the other is flooded from outside and from inside turns.
    private func grow(_ place: Place, _ capacity: Int, _ scenario: Scenario) {
      let site = place.makeSite(turnLimit: 5)
      let checker = HistoryChecker(ofMailboxWith: capacity, turnsSend: true, turnLimit: 5, at: place)
      for round in 0..<StressMode.rounds(60) {
        let recorder = HistoryRecorder()
        let complaint = flood(site, capacity, checker, recorder, scenario, round)
        #expect(complaint == nil, "\(scenario), round \(round): \(complaint ?? "")")
        #expect(Threads.yield { recorder.payloads.alive == 0 }, "\(scenario), round \(round)")
      }
      site.end()
    }

    private func flood(
      _ site: Site, _ capacity: Int, _ checker: HistoryChecker, _ recorder: HistoryRecorder,
      _ scenario: Scenario, _ round: Int
    ) -> String? {
      let (threads, actions) = (4, 3 * capacity)
      let failures = FailureCounter()
      let target = RecordingReactor(
        on: site.placement, capacity: capacity, producers: threads, recorder: recorder, failures: failures)
      let sends = Crew(of: threads) { thread in
        var disturbance = Disturbance(scenario.generator(round * threads + thread))
        let relay = thread % 2 == 0 ? nil : TurnSender(to: target)
        return (0..<actions).map { sequence in
          disturbance.step()
          let item = Item(producer: thread, sequence: sequence, countedBy: recorder.payloads)
          let action = RecordingReactor.Action(item: item)
          var record = recorder.reportedSend(thread, sequence) {
            if let relay { relay.send(action) } else { target.send(action) }
          }
          record.isFromTurn = relay != nil
          if disturbance.happens(onceIn: 16) { recorder.count { target.counters.waiting } }
          return record
        }
      }.join().flatMap { $0 }
      guard Threads.yield(until: { target.withCurrentState { $0.reduced } == threads * actions }) else {
        return "\(target.currentState.reduced) of \(threads * actions) reduced"
      }
      if failures.total > 0 { return "\(failures.total) refused" }
      var history = recorder.history(target.log, sends)
      history.noteReleases(ofMailboxWith: capacity)
      return target.checker.complaint ?? checker.complaint(about: history)
    }
  }
}

/// A mailbox with one thread that plays all parts, in an order that a seed decides: senders that stop between claim
/// and publication, senders inside turns that find it full, and the owner. The senders go on in the middle of the
/// owner's drains. So growing, spilling and draining overlap in every way, and in the same way with the same seed.
final class GrowthPlay {
  private struct Stopped {
    let segment: GrowingRing<Work<LifetimeTracked>>.Segment
    let cursor: UInt64
    let producer: Int
    let sequence: Int
    let begin: UInt64
  }

  private static var producers: Int { 5 }
  /// The producer number of the owner, when it sends to itself.
  private static var owner: Int { producers }

  private let mailbox: Mailbox<LifetimeTracked>
  private let overflow: Overflow<LifetimeTracked>
  private let recorder = HistoryRecorder()
  private var generator: SplitMix64
  /// Set when no thread sends any more.
  private var stepsLeft: Int
  private var log: OwnerLog
  private var sends: [History.Send] = []
  private var stopped: [Stopped] = []
  private var next = Array(repeating: 0, count: producers + 1)

  init(capacity: Int, steps: Int, _ generator: SplitMix64) {
    do {
      mailbox = try Mailbox(capacity: capacity, reentrantCapacity: 1 << 20)
      overflow = mailbox.overflow.setIfNil(try Overflow())
    } catch {
      fatalError("no mailbox: \(error)")
    }
    self.generator = generator
    stepsLeft = steps
    log = OwnerLog(recorder)
  }

  /// Returns what is wrong with the result, or nil.
  func run() -> String? {
    while stepsLeft > 0 {
      if generator.happens(onceIn: 16) { drain(upTo: 1 + generator.below(24)) } else { step() }
    }
    while let one = stopped.popLast() { publish(one) }
    while drain(upTo: .max) > 0 {}
    let complaint = HistoryChecker().complaint(about: recorder.history(log, sends))
    mailbox.free()
    if recorder.payloads.alive > 0 { return "\(recorder.payloads.alive) alive; \(complaint ?? "")" }
    return complaint
  }

  private func step() {
    stepsLeft -= 1
    let producer = generator.below(Self.producers)
    // A sender that has stopped finishes its send before it does anything else.
    if let index = stopped.firstIndex(where: { $0.producer == producer }) {
      if generator.happens(onceIn: 6) { publish(stopped.remove(at: index)) }
    } else if generator.happens(onceIn: 12) {
      stop(producer)
    } else {
      send(producer)
    }
  }

  /// Sends into the ring, or, as a turn does, beside it.
  private func send(_ producer: Int) {
    let action = Work.action(recorder.payloads.track(producer << 32 | next[producer]))
    let record = recorder.send(producer, next[producer]) {
      if mailbox.ring.offer(action) == .accepted { return .accepted }
      // No other thread runs, so the ring is still full.
      guard case .kept = overflow.spilled.keep(action, beside: mailbox.ring, limit: .max, mailbox.ownerCheck)
      else {
        preconditionFailure("a mailbox says that it is full, and that it is not")
      }
      return .accepted
    }
    sends.append(record)
    next[producer] += 1
  }

  /// Claims a slot, and stops there.
  private func stop(_ producer: Int) {
    guard let segment = mailbox.ring.newest.use({ $0 }) else { return }
    let begin = recorder.clock.now()
    guard case .claimed(let cursor) = segment.ring.raw.tryClaim(1) else { return }
    stopped.append(
      Stopped(segment: segment, cursor: cursor, producer: producer, sequence: next[producer], begin: begin))
  }

  private func publish(_ one: Stopped) {
    let action = Work.action(recorder.payloads.track(one.producer << 32 | one.sequence))
    let raw = one.segment.ring.raw
    raw.slots.payload(one.cursor, as: Work<LifetimeTracked>.self).initialize(to: action)
    raw.publish(one.cursor, count: 1)
    sends.append(
      History.Send(
        producer: one.producer, sequence: one.sequence, begin: one.begin, end: recorder.clock.now()))
    next[one.producer] += 1
  }

  @discardableResult
  private func drain(upTo limit: Int) -> Int {
    log.beginTurn()
    defer { log.endTurn() }
    return mailbox.drain(upTo: limit, { receive($0) }, besideRing: { receive($0) })
  }

  private func receive(_ work: Work<LifetimeTracked>) {
    guard case .action(let action) = work else { return }
    log.receive(History.ElementID(producer: action.value >> 32, sequence: action.value & 0xffff_ffff))
    if stepsLeft > 0, generator.happens(onceIn: 16) { reenter() }
    if generator.happens(onceIn: 3) {
      for _ in 0..<generator.below(12) where stepsLeft > 0 { step() }
    }
  }

  private func reenter() {
    let action = Work.action(recorder.payloads.track(Self.owner << 32 | next[Self.owner]))
    log.sendAsOwner(Self.owner, next[Self.owner]) { _ = mailbox.tryAppendOwn(action) }
    next[Self.owner] += 1
  }
}
