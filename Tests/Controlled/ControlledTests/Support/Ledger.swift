import ReactorRuntime

/// What the threads of a scenario did, and what became of each action. ``verify()`` checks the guarantees that hold for
/// every reactor.
///
/// Time is the order of the calls, which is exact, since one thread runs at a time.
final class Ledger: @unchecked Sendable {
  // Unchecked: one thread runs at a time, and no method has a point.

  struct Send {
    enum Outcome: Equatable {
      case running, returned
      case refused(SendError)
    }
    let begin: Int
    let isWeak: Bool
    /// Whether it comes from inside of the reactor's loop, and only such actions are sent to the reactor: the loop runs them
    /// although it is closed.
    let isFromInside: Bool
    /// Only elements of one source have an order.
    let source: Int
    /// When it has to give up; nil if it waits as long as there is no room, or not at all.
    let deadline: ContinuousClock.Instant?
    /// Whether it is that of a task, which waits for room.
    let isSuspending: Bool
    var end = Int.max
    var outcome = Outcome.running
  }

  struct Report {
    let reason: SendError?
    let time: Int
  }

  private var time = 0
  private(set) var sends: [Int: Send] = [:]
  private(set) var reduced: [Int: [Int]] = [:]
  private(set) var reports: [Int: [Report]] = [:]
  private(set) var alive = 0
  private var isMutating = false
  /// When each action was first in `mutate`.
  private var begun: [Int: Int] = [:]
  private var cancelled: Set<Int> = []
  /// How many accepted actions may wait: the rule is not checked if it is nil.
  private let mostWaiting: Int?
  private var capacity = 1
  /// How many steps of its streams may have taken a place in the mailbox.
  private var steps = 0
  /// What may be reported, beside actions that a closed reactor refuses.
  private var reasons: Set<SendError>
  private var closedSince = Int.max
  private var refusedSince = Int.max
  private var endedSince = Int.max
  private var freedSince = Int.max
  private var isDiscarding = false
  private var begunWhileDiscarding = 0
  /// Whether a stub was enabled at some time, which takes actions in place of the reactor.
  var isStubbed = false
  /// What it took; nil if the reactor has taken that with it.
  private var stubbed: [Int]?

  /// - Parameter reasons: What may be reported, beside what closing and the overflow policy explain. (A reactor that refuses
  ///   everything would keep the other rules.)
  init(mostWaiting: Int? = nil, reasons: Set<SendError> = []) {
    self.mostWaiting = mostWaiting
    self.reasons = reasons.union([.closed])
  }

  private func tick() -> Int {
    time += 1
    return time
  }

  // MARK: Senders

  /// Sends the action `id` by `body`, which throws if it is refused.
  ///
  /// - Parameter isWeak: Whether the sender has no reference to the reactor. If the reactor goes away before the send
  ///   ends, the action may vanish.
  /// - Parameter isFromInside: Whether every sender of the reactor is a turn or a job of its loop: then the action is reduced.
  /// - Parameter source: 0 for actions; another number for each stream that a transform merges in.
  func send(
    _ id: Int, isWeak: Bool = false, isFromInside: Bool = false, source: Int = 0,
    _ body: (Parcel) throws(SendError) -> Void
  ) {
    begin(id, isWeak: isWeak, isFromInside: isFromInside, source: source)
    finish(id, body)
  }

  /// Sends the action `id` by `body`, which throws if it is refused, or if there is no room within that time.
  func send(
    _ id: Int, within limit: Duration, _ body: (Parcel, ContinuousClock.Instant) throws(SendError) -> Void
  ) {
    let deadline = ContinuousClock.now + limit
    begin(id, deadline: deadline)
    finish(id) { parcel throws(SendError) in try body(parcel, deadline) }
  }

  private func finish(_ id: Int, _ body: (Parcel) throws(SendError) -> Void) {
    do {
      try body(Parcel(id, in: self))
      end(id, .returned)
    } catch {
      end(id, .refused(error))
    }
  }

  /// The same for a task.
  func send(
    _ id: Int, within limit: Duration? = nil, suspending body: (Parcel) async throws(SendError) -> Void
  ) async {
    begin(id, deadline: limit.map { .now + $0 }, isSuspending: true)
    do {
      try await body(Parcel(id, in: self))
      end(id, .returned)
    } catch {
      end(id, .refused(error))
    }
  }

  private func begin(
    _ id: Int, isWeak: Bool = false, isFromInside: Bool = false, source: Int = 0,
    deadline: ContinuousClock.Instant? = nil, isSuspending: Bool = false
  ) {
    precondition(sends[id] == nil, "two actions have the number \(id)")
    sends[id] = Send(
      begin: tick(), isWeak: isWeak, isFromInside: isFromInside, source: source, deadline: deadline,
      isSuspending: isSuspending)
  }

  private func end(_ id: Int, _ outcome: Send.Outcome) {
    if case .refused(let reason) = outcome, let send = sends[id] { checkRefusal(of: id, send, reason) }
    sends[id]?.outcome = outcome
    sends[id]?.end = tick()
    if let mostWaiting {
      let waiting = sends.filter {
        $0.value.outcome == .returned && begun[$0.key] == nil && reports[$0.key] == nil
      }
      // One that the owner has taken out does not wait any more, a moment before it is in `mutate`.
      let most = mostWaiting + (isMutating ? 0 : 1)
      check(waiting.count <= most, "\(waiting.count) actions wait, and at most \(most) may")
    }
  }

  private func checkRefusal(of id: Int, _ send: Send, _ reason: SendError) {
    let isPossible =
      switch reason {
      case .full: send.deadline == nil && !send.isSuspending && mayHaveBeenFull(during: send, of: id)
      case .timedOut: send.deadline.map { .now >= $0 } ?? false
      case .cancelled: cancelled.contains(id)
      default: reasons.contains(reason)
      }
    check(isPossible, "action \(id) was refused (\(reason)), which nothing explains")
  }

  /// Whether there may have been no room at some moment since the send of this action began: beside it there were as many as the
  /// mailbox holds. An action that was in `mutate` before, or reported, has left its place, unless the owner was about to release
  /// that. With late stores it may seem to be there for longer; and so it may if the mailbox is growing, from 8 places on.
  private func mayHaveBeenFull(during send: Send, of id: Int) -> Bool {
    let others = sends.filter { other in
      if case .refused = other.value.outcome, other.value.end < send.begin { return false }
      return other.key != id
    }
    if Schedule.hasLateStores || capacity > 8 { return others.count + steps >= capacity }
    let gone = others.keys.filter { other in
      begun[other].map { $0 < send.begin } ?? false
        || reports[other, default: []].contains { $0.time < send.begin }
    }
    // The owner releases the places of so many at once.
    let unreleased = min(gone.count, max(1, capacity / 4))
    return others.count - gone.count + unreleased + steps >= capacity
  }

  /// Nothing is known of this action.
  func forget(_ id: Int) { sends[id] = nil }

  /// The tasks that send these actions are about to be cancelled.
  func willCancel(_ ids: Int...) { cancelled.formUnion(ids) }

  /// The reactor is about to be closed, or its loop, or its last reference is about to go away.
  func willClose() { closedSince = min(closedSince, tick()) }

  /// Whether it may be closed.
  var isClosing: Bool { closedSince != .max }

  /// A call that closes the reactor has returned: what is sent from now on is not reduced.
  func hasClosed() { refusedSince = min(refusedSince, tick()) }

  /// A call to discard has returned: nothing is processed any more, but for what the owner had begun to.
  func hasDiscarded() { isDiscarding = true }

  /// A thread has learned that the reactor has ended.
  func hasEnded() { endedSince = min(endedSince, tick()) }

  // MARK: The reactor

  func note(_ overflow: OverflowPolicy, capacity: Int = 1) {
    self.capacity = capacity
    switch overflow {
    case .block: break
    case .fail: reasons.insert(.full)
    case .dropNewest, .dropOldest: reasons.insert(.dropped)
    }
  }

  func beginMutate(_ id: Int) {
    check(!isMutating, "two actions are in mutate at the same time")
    check(begun[id] == nil, "action \(id) is in mutate twice")
    isMutating = true
    begun[id] = tick()
    if isDiscarding { begunWhileDiscarding += 1 }
    check(begunWhileDiscarding <= 1, "action \(id) is processed although the reactor discards")
  }

  /// An observer is about to come or go.
  func noteStep() { steps += 1 }

  func endMutate() { isMutating = false }

  func reduce(_ id: Int) { reduced[id, default: []].append(tick()) }

  func report(_ failure: Failure) {
    if let parcel = failure.action as? Parcel { report(parcel.id, failure.sendError) }
  }

  func report(_ id: Int, _ reason: SendError?) {
    if let reason {
      // What an overflow policy refuses or drops found no room, or a later one did.
      let isOverflow = reason == .full || reason == .dropped
      let hadRoom = isOverflow && sends[id].map { !mayHaveBeenFull(during: $0, of: id) } ?? false
      check(
        reasons.contains(reason) && !hadRoom, "action \(id) was reported (\(reason)), which nothing explains")
    }
    reports[id, default: []].append(Report(reason: reason, time: tick()))
  }

  func noteStubbed(_ ids: [Int]) { stubbed = ids }
  func wasFreed() { freedSince = min(freedSince, tick()) }

  // MARK: Objects

  func wasBorn() { alive += 1 }
  func hasDied() { alive -= 1 }

  // MARK: Rules

  /// Checks that nothing waits. While the reactor lives, and no thread sends or runs turns.
  func verifyAtRest() {
    for (id, send) in sends.sorted(by: { $0.key < $1.key }) where send.outcome == .returned && !isStubbed {
      let hasVanished = send.isWeak && freedSince < send.end
      check(
        reduced[id] != nil || reports[id] != nil || hasVanished,
        "action \(id) waits although nobody will run the reactor")
    }
  }

  /// Checks every rule. After all threads have ended and all references are gone.
  func verify() {
    for (id, send) in sends.sorted(by: { $0.key < $1.key }) {
      // A stub that takes an action has processed it.
      let processed = reduced[id, default: []].count + (stubbed?.filter { $0 == id }.count ?? 0)
      let times = (reduced: processed, reported: reports[id, default: []].count)
      switch send.outcome {
      case .running: check(false, "the send of \(id) has not returned")
      case .returned:
        if times == (0, 0), send.isWeak && freedSince < send.end || isStubbed && stubbed == nil { break }
        check(times.reduced + times.reported > 0, "action \(id) is lost: neither reduced nor reported")
        check(
          times.reduced + times.reported == 1,
          "action \(id) was reduced \(times.reduced) times and reported \(times.reported) times")
      case .refused(let reason):
        check(
          times.reduced + times.reported == 0,
          "action \(id) was refused (\(reason)), and reduced or reported nonetheless")
        check(
          reason != .closed || closedSince < send.end, "action \(id) was refused as closed by an open reactor"
        )
      }
      for report in reports[id, default: []] where report.reason == .closed {
        check(closedSince < report.time, "action \(id) was reported as closed by an open reactor")
      }
      // Within its send, an action is reported because it was refused.
      for report in reports[id, default: []] where send.outcome == .returned {
        check(
          report.time < max(endedSince, send.end), "action \(id) was accepted, and reported after the end")
      }
      for time in reduced[id, default: []] {
        check(time < endedSince, "action \(id) was reduced after the end")
        check(time > send.begin, "action \(id) was reduced before it was sent")
        check(
          send.begin < refusedSince, "action \(id) was reduced although the reactor had been closed before")
      }
      if send.isFromInside {
        check(reduced[id] != nil, "action \(id) of the loop itself was not reduced")
      }
    }
    verifyOrder()
    check(alive == 0, "\(alive) objects are alive")
  }

  /// A send that returned before another one of the same source began is reduced first; those of one sender, too.
  private func verifyOrder() {
    let order = sends.filter { reduced[$0.key] != nil }.sorted { $0.key < $1.key }
    for (earlier, first) in order {
      for (later, second) in order where first.source == second.source && first.end < second.begin {
        check(
          reduced[earlier]![0] < reduced[later]![0],
          "action \(later) overtook action \(earlier), whose send had returned before")
      }
    }
  }
}
