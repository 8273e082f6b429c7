import ReactorCore
import ReactorRuntime
import ReactorTesting
import TestSupport

extension FuzzProperty {
  /// With every overflow policy a mailbox does what a list does: the order, what is refused and why, what is dropped,
  /// and closing. Each action is processed, reported once or refused with an error, and then destroyed.
  public static let overflow = overflow(nil)

  public static func overflow(_ fault: OverflowFault?) -> FuzzProperty {
    FuzzProperty("overflow") { bytes throws(Mismatch) in
      try OverflowRun.run(OverflowCase(bytes), fault)
    }
  }
}

/// One reactor beside its model.
private final class OverflowRun: OverflowWitness, @unchecked Sendable {
  // Unchecked: there is only one thread.
  private let loop: SteppedLoop
  private let turnLimit: Int
  private let lifetimes = Lifetimes()
  private var subject: OverflowSubject?
  private var courier: OverflowCourier?
  private var model: OverflowModel
  private var log = FuzzLog<OverflowOperation>()
  /// The first difference. It is kept here because the closures of a reactor cannot throw.
  private var mismatch: Mismatch?
  private var lastID = 0
  private var sender = OverflowModel.Sender.outside
  /// The reports during the present send; nil outside of sends.
  private var failures: [(id: Int, reason: SendError?)]?
  /// How many actions this step has processed or dropped.
  private var stepCount = 0

  private init(_ overflowCase: OverflowCase) {
    do { loop = try SteppedLoop(turnLimit: overflowCase.turnLimit) } catch { fatalError("\(error)") }
    turnLimit = overflowCase.turnLimit
    model = OverflowModel(overflowCase)
  }

  static func run(_ overflowCase: OverflowCase, _ fault: OverflowFault?) throws(Mismatch) {
    let run = OverflowRun(overflowCase)
    run.subject = OverflowSubject(overflowCase, on: run.loop.placement, run, fault)
    run.courier = OverflowCourier(run)
    defer {
      // They hold the run.
      run.subject = nil
      run.courier = nil
    }
    for operation in overflowCase.operations + [.stepUntilEmpty] {
      run.log.append(operation)
      run.perform(operation)
      run.compare()
      if let mismatch = run.mismatch { throw mismatch }
    }
  }

  private func check(_ body: () throws(Mismatch) -> Void) {
    if mismatch != nil { return }
    do throws(Mismatch) { try body() } catch { mismatch = error }
  }

  private func perform(_ operation: OverflowOperation) {
    switch operation {
    case .errand(let errand): perform(errand)
    case .sendMany(let count):
      for _ in 0..<count { deliver(Delivery(way: .send, tasks: [])) }
    case .step: step()
    case .stepUntilEmpty: while mismatch == nil, step() > 0 {}
    }
  }

  // MARK: Sending

  private func perform(_ errand: OverflowErrand) {
    switch errand {
    case .deliver(let delivery): deliver(delivery)
    case .courier(let deliveries): courier?.send(deliveries)
    case .close(let closing):
      subject?.end(closing)
      model.close(closing)
    }
  }

  func carries(_ deliveries: [Delivery]) {
    let outer = sender
    if sender == .outside { sender = .turnOfAnother }
    for delivery in deliveries { deliver(delivery) }
    sender = outer
  }

  private func deliver(_ delivery: Delivery) {
    lastID += 1
    let id = lastID
    let expected = model.send(id, waitingForNobody(delivery.way), by: sender)
    failures = []
    var refusal: SendError?
    do throws(SendError) {
      let parcel = Parcel(id: id, tasks: delivery.tasks, payload: lifetimes.track(id))
      try subject?.deliver(parcel, waitingForNobody(delivery.way))
    } catch { refusal = error }
    let reported = failures ?? []
    failures = nil
    check { () throws(Mismatch) in
      var expectedReports = expected.dropped.map { ($0, SendError.dropped) }
      if let reason = expected.refusal, waitingForNobody(delivery.way) == .send {
        expectedReports.append((id, reason))
        try log.expect(refusal, is: nil, "what send(_:) has thrown")
      } else {
        try log.expect(refusal, is: expected.refusal, "the refusal of action \(id)")
      }
      try log.expect(
        reported.map { "\($0.id): \($0.reason.map { "\($0)" } ?? "?")" },
        is: expectedReports.map { "\($0.0): \($0.1)" }, "what was reported during the send of action \(id)")
    }
  }

  /// A send that would wait for ever, since there is only one thread, has a deadline instead.
  private func waitingForNobody(_ way: SendWay) -> SendWay {
    model.policy == .block && way == .send && sender == .outside ? .sendBeforeNow : way
  }

  // MARK: Turns

  @discardableResult
  private func step() -> Int {
    stepCount = 0
    let wasEmpty = model.waiting.isEmpty
    if !wasEmpty { model.takeOver() }
    let count = loop.step()
    check { () throws(Mismatch) in
      try log.expect(count, is: stepCount, "the number of actions that the step has counted")
      try log.expect(wasEmpty || count > 0, "the step has done nothing, and there was something to do.")
      try log.expect(count <= turnLimit, "the step has done more than \(turnLimit), the limit of a turn.")
      if count < turnLimit {
        try log.expect(model.waiting.map(\.id), is: [], "what is left after a step that was not cut short")
      }
    }
    return count
  }

  func processes(_ parcel: Parcel) {
    stepCount += 1
    check { () throws(Mismatch) in
      try log.expect(model.process(), is: parcel.id, "the action whose turn it is (not \(parcel.id))")
    }
    sender = .ownTurn
    for errand in parcel.tasks { perform(errand) }
    sender = .outside
  }

  func fails(_ failure: Failure) {
    let id = (failure.action as? Parcel)?.id ?? -1
    if failures != nil {
      failures?.append((id, failure.sendError))
      return
    }
    stepCount += 1
    check { () throws(Mismatch) in
      let expected = model.passOver()
      let reason = failure.sendError
      try log.expect(expected?.id, is: id, "the action that is to be passed over (not \(id))")
      try log.expect(reason, is: expected?.reason, "the reason why action \(id) was not processed")
    }
  }

  // MARK: Looking

  private func compare() {
    guard let subject else { return }
    check { () throws(Mismatch) in
      try log.expect(lifetimes.alive, is: model.waiting.count, "the number of living actions")
      try log.expect(subject.currentState, is: model.state, "the state")
      let counters = subject.counters
      try log.expect(
        counters.waiting, is: model.waiting.count, "the counter of what waits in and beside the mailbox")
      try log.expect(counters.dropped, is: model.droppedCount, "the counter of what was dropped")
      try log.expect(subject.isClosed, is: model.closing != nil, "whether the reactor is closed")
    }
  }
}
