import ReactorRuntime
import Synchronization
import TestSupport

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// A clock that only counts: sequentially consistent, so its numbers agree with what really came first.
///
/// Reading it synchronises the threads with each other, which can hide a missing happens-before edge from
/// ThreadSanitizer and a reordering from everybody. So whatever runs with it must also run without.
final class LogicalClock: Sendable {
  private let time = Atomic<UInt64>(0)

  func now() -> UInt64 { time.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue }
}

/// Writes a scenario's history down, and counts its payloads. Any thread.
final class HistoryRecorder: Sendable {
  private struct Refusal: Sendable {
    let reason: SendError
    let time: UInt64
    let thread: UInt
  }

  let clock = LogicalClock()
  /// Of the objects that the elements carry.
  let payloads = Lifetimes()
  private let refusals = Guarded<[History.ElementID: [Refusal]]>([:])
  private let closes = Guarded<[History.Close]>([])

  /// What tells the calling thread from all others that run.
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

  /// A send whose refusal only the failure handler is told of: see ``noteRefusal(of:_:)``.
  ///
  /// - Parameter ignoring: A reason for which others take an element out again that was accepted; then it is
  ///   no outcome of the send, whoever happened to notice.
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

  /// The failure handler was told of it.
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

  // MARK: Afterwards

  /// Everything that was written down, once all threads are done.
  func history(_ owner: OwnerLog, _ sends: [History.Send]) -> History {
    var history = owner.history
    history.sends += sends
    history.closes = closes.with { $0 }
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

  /// Of the send during which it was noted, if it was during one.
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
    case .deadlock, .reentrantOverflow, .outOfMemory: fatalError("not in a recorded scenario: \(reason)")
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

/// What an owner writes down; nothing without a recorder.
///
/// A value that nothing guards but the promise that there is one owner at a time: ThreadSanitizer sees it
/// broken.
struct OwnerLog: Sendable {
  private(set) var history = History()
  private let recorder: HistoryRecorder?
  private var turnBegin: UInt64 = 0

  init(_ recorder: HistoryRecorder?) {
    self.recorder = recorder
    if recorder != nil { history.turns = [] }
  }

  mutating func beginTurn() {
    guard let recorder else { return }
    turnBegin = recorder.clock.now()
  }

  mutating func endTurn() {
    guard let recorder else { return }
    history.turns?.append(
      History.Turn(begin: turnBegin, end: recorder.clock.now(), thread: HistoryRecorder.thread))
  }

  mutating func receive(_ element: History.ElementID) {
    guard let recorder else { return }
    history.receptions.append(
      History.Reception(element: element, time: recorder.clock.now(), thread: HistoryRecorder.thread))
  }

  /// The slots of what was received so far have been given back.
  mutating func noteReleased() {
    guard let recorder else { return }
    history.releases.append(History.Release(time: recorder.clock.now(), released: history.receptions.count))
  }

  /// What the owner sends to itself.
  mutating func sendAsOwner(_ producer: Int, _ sequence: Int, _ send: () -> Void) {
    guard let recorder else { return send() }
    var record = recorder.send(producer, sequence) {
      send()
      return .accepted
    }
    record.isReentrant = true
    history.sends.append(record)
  }
}
