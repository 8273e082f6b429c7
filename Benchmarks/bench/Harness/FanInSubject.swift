/// What every case sends: 16 bytes. Each producer counts its values up from 0.
struct Item: Sendable {
  var producer: UInt64
  var value: UInt64
}

/// How a consumer waits when there is nothing to do.
enum ConsumerMode: String, Sendable {
  /// Polls, and yields its core only after many polls that found nothing.
  case busy
  /// Polls for a while, then sleeps, as a loop does by default.
  case spinning
  /// Sleeps at once.
  case parked
}

/// How a subject is to be built.
struct SubjectSetup: Sendable {
  var producers: Int
  /// The capacity of a bounded subject; others ignore it.
  var capacity: Int
  var consumer: ConsumerMode
  /// The CPU for the consumer's thread, if the subject has one of its own; nil lets the scheduler choose.
  var consumerCPU: Int32?
  /// For the subject's `Tally`. The harness keeps it alive.
  var inspector: Inspector?
}

/// What many threads send items to, and what reduces them one at a time into a `Tally`: a part of this package, a baseline
/// or a limit. One instance serves one repetition.
///
/// The harness calls these functions once per several thousand items, and where the type is known, so that each subject's
/// loop is compiled for it alone.
protocol FanInSubject: AnyObject, Sendable {
  /// The most items of a repetition, for subjects without a bound, which would otherwise fill the memory.
  static var mostItems: Int? { get }
  /// Items per call of `produce`.
  static var chunk: Int { get }
  /// Whether it reduces on a thread that it does not make itself: one of the system's pool, or one that a part of this package
  /// makes for itself. Then no thread is confined to a CPU. The threads of a pool would inherit that, and the others would use the
  /// producers' CPUs, too, while the producers could not use theirs.
  static var floats: Bool { get }

  /// Starts the thread that reduces, unless that is the one that calls `awaitTotals`.
  init(_ setup: SubjectSetup) throws

  /// Sends one item for each value, in order. Called on the thread of `producer`.
  func produce(producer: Int, values: Range<UInt64>)

  /// Sends each item of a schedule at its time, or as soon afterwards as the subject accepts it. Called instead of the other one, on
  /// the thread of the only producer. Returns what was sent. For subjects whose senders do not wait in a thread.
  func produce(on schedule: SendSchedule) -> Totals

  /// Returns when `quota.total` items are reduced, and stops the thread that reduces. Called once, on a thread that does
  /// nothing else: a subject without a thread of its own reduces here.
  func awaitTotals(_ quota: Quota) throws -> Totals

  /// How often the thread that reduces has slept; nil if the subject does not count that. Read after `awaitTotals`.
  var sleeping: Sleeping? { get }
}

/// How often a thread prepared to sleep, and how often another thread woke it by a system call.
struct Sleeping: Codable, Sendable {
  var parks: Int
  var wakes: Int
}

extension FanInSubject {
  static var mostItems: Int? { nil }
  static var chunk: Int { 4096 }
  static var floats: Bool { false }
  var sleeping: Sleeping? { nil }

  func produce(on schedule: SendSchedule) -> Totals {
    var schedule = schedule
    while let due = schedule.next() { produce(producer: 0, values: due..<due + 1) }
    return schedule.sent
  }
}

/// A repetition that hangs. Its threads cannot be ended, so nothing more can be measured in this process.
struct Stalled: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// A subject that could not be set up, or whose result was wrong.
struct SubjectFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
