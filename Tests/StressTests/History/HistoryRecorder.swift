import ReactorRuntime
import Synchronization
import TestSupport

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// A clock that only counts. It is sequentially consistent, so its numbers agree with the real order of events.
///
/// Reading it synchronises the threads with each other. That can hide a missing happens-before edge from
/// ThreadSanitizer, and a reordering from every check. So each scenario that runs with it must also run without it.
final class LogicalClock: Sendable {
  private let time = Atomic<UInt64>(0)

  func now() -> UInt64 { time.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue }
}

/// Records a scenario's history, and counts its payloads. Any thread.
final class HistoryRecorder: Sendable {
  private struct Refusal: Sendable {
    let reason: SendError
    let time: UInt64
    let thread: UInt
  }

  let clock = LogicalClock()
  /// Counts the objects that the elements carry.
  let payloads = Lifetimes()
  private let refusals = Guarded<[History.ElementID: [Refusal]]>([:])
  private let closes = Guarded<[History.Close]>([])
  private let counts = Guarded<[History.Count]>([])

  /// Identifies the calling thread among all that run.
  static var thread: UInt { UInt(pthread_self()) }

  // MARK: Sending

  func send(
    _ producer: Int, _ sequence: Int, count: Int = 1, _ send: () -> History.Send.Outcome
  ) -> History.Send {
    let begin = clock.now()
    let outcome = send()
    return History.Send(
      producer: producer, sequence: sequence, count: count, begin: begin, end: clock.now(), outcome: outcome)
  }

  /// Records a send of which only the failure handler learns that it was refused: see ``noteRefusal(of:_:)``.
  ///
  /// - Parameter ignoring: A reason with which an element that was accepted may be taken out again. It is no outcome
  ///   of the send, even if the sending thread reports it.
  func reportedSend(
    _ producer: Int, _ sequence: Int, ignoring: SendError? = nil, _ send: () -> Void
  ) -> History.Send {
    var record = self.send(producer, sequence) {
      send()
      return .accepted
    }
    let element = History.ElementID(producer: producer, sequence: sequence)
    let refusal = refusals.with { refusals -> Refusal? in
      guard let refusal = refusals[element]?.last, refusal.reason != ignoring else { return nil }
      guard refusal.thread == Self.thread, refusal.time > record.begin else { return nil }
      refusals[element]?.removeLast()
      return refusal
    }
    if let refusal { record.outcome = History.Send.Outcome(refusal.reason) }
    record.thread = Self.thread
    return record
  }

  // MARK: Being refused, and closing

  /// Records that the failure handler was called for this element.
  func noteRefusal(of element: History.ElementID, _ reason: SendError) {
    let refusal = Refusal(reason: reason, time: clock.now(), thread: Self.thread)
    refusals.with { $0[element, default: []].append(refusal) }
  }

  func close(discards: Bool = false, _ close: () -> Void) {
    let begin = clock.now()
    close()
    let end = clock.now()
    closes.with { $0.append(History.Close(begin: begin, end: end, discards: discards)) }
  }

  /// Records how many elements a reactor says that wait.
  func count(_ waiting: () -> Int) {
    let begin = clock.now()
    let waiting = waiting()
    let count = History.Count(waiting: waiting, begin: begin, end: clock.now())
    counts.with { $0.append(count) }
  }

  // MARK: Afterwards

  /// Returns everything that was recorded. To be called when all threads are done.
  func history(_ owner: OwnerLog, _ sends: [History.Send]) -> History {
    var history = owner.history
    history.sends += sends
    history.closes = closes.with { $0 }
    history.counts = counts.with { $0 }
    let sendsOf = Dictionary(grouping: sends, by: \.thread).mapValues { $0.sorted { $0.begin < $1.begin } }
    for (element, refusals) in refusals.with({ $0 }) {
      history.reports += refusals.map { refusal in
        History.Report(
          element: element, reason: History.Report.Reason(refusal.reason), time: refusal.time,
          earliest: Self.beginning(of: refusal, in: sendsOf[refusal.thread] ?? []))
      }
    }
    return history
  }

  /// Returns the beginning of the send during which the refusal was recorded, or nil if it was not during one.
  private static func beginning(of refusal: Refusal, in sends: [History.Send]) -> UInt64? {
    let next = sends.partition { $0.begin > refusal.time }
    guard next > 0, sends[next - 1].end > refusal.time else { return nil }
    return sends[next - 1].begin
  }
}

extension History.Send.Outcome {
  init(_ reason: SendError) {
    switch reason {
    case .full: self = .full
    case .dropped: self = .dropped
    case .timedOut: self = .timedOut
    case .closed: self = .closed
    case .cancelled: self = .cancelled
    case .reentrantOverflow: self = .overLimit
    case .deadlock, .outOfMemory: fatalError("not in a recorded scenario: \(reason)")
    }
  }
}

extension History.Report.Reason {
  init(_ reason: SendError) {
    switch reason {
    case .dropped: self = .dropped
    case .closed: self = .closed
    default: fatalError("an element that was accepted was refused: \(reason)")
    }
  }
}

/// What an owner records; nothing without a recorder.
///
/// Only the guarantee of one owner at a time guards this value, so ThreadSanitizer reports a race if there are two.
struct OwnerLog: Sendable {
  private(set) var history = History()
  private let recorder: HistoryRecorder?
  private var turnBegin: UInt64 = 0
  private var turnThread: UInt = 0

  init(_ recorder: HistoryRecorder?) {
    self.recorder = recorder
    if recorder != nil { history.turns = [] }
  }

  mutating func beginTurn() {
    guard let recorder else { return }
    turnBegin = recorder.clock.now()
    turnThread = HistoryRecorder.thread
  }

  mutating func endTurn() {
    guard let recorder else { return }
    history.turns?.append(
      History.Turn(
        begin: turnBegin, end: recorder.clock.now(), thread: HistoryRecorder.thread, firstThread: turnThread))
  }

  /// - Parameter turn: How many turns have ended before, if that is known.
  mutating func receive(_ element: History.ElementID, inTurn turn: Int? = nil) {
    guard let recorder else { return }
    history.receptions.append(
      History.Reception(
        element: element, time: recorder.clock.now(), thread: HistoryRecorder.thread, turn: turn))
  }

  /// Records that the slots of everything received so far have been released.
  mutating func noteReleased() {
    guard let recorder else { return }
    history.releases.append(History.Release(time: recorder.clock.now(), released: history.receptions.count))
  }

  /// Records a send of the owner to itself.
  mutating func sendAsOwner(_ producer: Int, _ sequence: Int, _ send: () -> Void) {
    guard let recorder else { return send() }
    var record = recorder.reportedSend(producer, sequence, send)
    record.isReentrant = true
    history.sends.append(record)
  }
}
