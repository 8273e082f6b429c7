import TestSupport

@testable import ReactorCore
@testable import ReactorRuntime

/// A mailbox in which one thread plays all parts, in an order that a seed decides: senders, some of which have
/// stopped between claim and publication, others that find it full, from inside of turns, and the owner, in the
/// middle of whose drains the others go on. So each meeting of growing, spilling and draining comes about, and
/// comes about again with the same seed.
final class GrowthPlay {
  private struct Stopped {
    let stage: GrowingRing<Work<LifetimeTracked>>.Stage
    let cursor: UInt64
    let producer: Int
    let sequence: Int
    let begin: UInt64
  }

  private static var producers: Int { 5 }
  /// The owner, when it sends to itself.
  private static var owner: Int { producers }

  private let mailbox: Mailbox<LifetimeTracked>
  private let overflow: Overflow<LifetimeTracked>
  private let recorder = HistoryRecorder()
  private var generator: SplitMix64
  /// Then nobody sends any more.
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

  /// What is wrong with what came of it.
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
    // Who has stopped goes on before it does anything else.
    if let index = stopped.firstIndex(where: { $0.producer == producer }) {
      if generator.happens(onceIn: 6) { publish(stopped.remove(at: index)) }
    } else if generator.happens(onceIn: 12) {
      stop(producer)
    } else {
      send(producer)
    }
  }

  /// Into the ring, or, as a turn does, beside it.
  private func send(_ producer: Int) {
    let action = Work.action(recorder.payloads.track(producer << 32 | next[producer]))
    let record = recorder.send(producer, next[producer]) {
      if mailbox.ring.offer(action) == .accepted { return .accepted }
      // Nobody else runs, so it is still full.
      guard case .kept = overflow.spill(action, besides: mailbox.ring, limit: .max) else {
        preconditionFailure("a mailbox says that it is full, and that it is not")
      }
      return .accepted
    }
    sends.append(record)
    next[producer] += 1
  }

  /// Claims, and goes no further.
  private func stop(_ producer: Int) {
    guard let stage = mailbox.ring.newest.use({ $0 }) else { return }
    let begin = recorder.clock.now()
    guard case .claimed(let cursor) = stage.ring.raw.tryClaim(1) else { return }
    stopped.append(
      Stopped(stage: stage, cursor: cursor, producer: producer, sequence: next[producer], begin: begin))
  }

  private func publish(_ one: Stopped) {
    let action = Work.action(recorder.payloads.track(one.producer << 32 | one.sequence))
    let raw = one.stage.ring.raw
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
    return mailbox.drain(upTo: limit) { work in
      guard case .action(let action) = work else { return }
      log.receive(History.ElementID(producer: action.value >> 32, sequence: action.value & 0xffff_ffff))
      if stepsLeft > 0, generator.happens(onceIn: 16) { reenter() }
      if generator.happens(onceIn: 3) {
        for _ in 0..<generator.below(12) where stepsLeft > 0 { step() }
      }
    }
  }

  private func reenter() {
    let action = Work.action(recorder.payloads.track(Self.owner << 32 | next[Self.owner]))
    log.sendAsOwner(Self.owner, next[Self.owner]) { _ = mailbox.tryAppendReentrant(action) }
    next[Self.owner] += 1
  }
}
