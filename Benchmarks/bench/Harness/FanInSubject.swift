/// What every case sends: 16 bytes, of which the value counts up per producer from 0.
struct Item: Sendable {
  var producer: UInt64
  var value: UInt64
}

/// How a consumer waits when there is nothing to do.
enum ConsumerMode: String, Sendable {
  /// Looks again and again; yields only when starved for long.
  case busy
  /// Looks for a while, then sleeps: what a loop does by default.
  case spinning
  /// Sleeps at once.
  case parked
}

/// What a subject is built for.
struct SubjectSetup: Sendable {
  var producers: Int
  /// Slots of a bounded subject; what has no bound ignores it.
  var capacity: Int
  var consumer: ConsumerMode
  /// Where a consumer's thread of the subject's own is to run; nil leaves it to the scheduler.
  var consumerCPU: Int32?
  /// To be handed to the subject's `Tally`. The harness keeps it alive.
  var inspector: Inspector?
}

/// Something that many threads send items to and that reduces them one at a time into a `Tally`: a core, a
/// baseline or a limit. One instance serves one repetition.
///
/// The harness calls through this protocol once per some thousand items, and where the type is known, so
/// each subject's loop is compiled for it alone.
protocol FanInSubject: AnyObject, Sendable {
  /// The most items that may be under way in one repetition; nil where the subject itself is bounded.
  static var mostItems: Int? { get }
  /// Items per call of `produce`.
  static var chunk: Int { get }
  /// Whether it reduces on threads of the system's pool. Then no thread is confined: the pool's threads
  /// would inherit it.
  static var usesPool: Bool { get }

  /// Starts whatever reduces, unless that is the thread that calls `awaitTotals`.
  init(_ setup: SubjectSetup) throws

  /// Sends one item for each value, in order. On the thread of `producer`.
  func produce(producer: Int, values: Range<UInt64>)

  /// Returns when `quota.total` items are reduced and stops what reduces. Called once, on a thread that has
  /// nothing else to do, so a subject without a thread of its own reduces right here.
  func awaitTotals(_ quota: Quota) throws -> Totals

  /// How the thread has slept that reduces, until all was reduced; nil if nobody counts that. Asked for after
  /// `awaitTotals`.
  var sleeping: Sleeping? { get }
}

/// How often a thread got ready to sleep, and how often somebody woke it by a system call.
struct Sleeping: Codable, Sendable {
  var parks: Int
  var wakes: Int
}

extension FanInSubject {
  static var mostItems: Int? { nil }
  static var chunk: Int { 4096 }
  static var usesPool: Bool { false }
  var sleeping: Sleeping? { nil }
}

/// A repetition that hangs. Its threads cannot be ended, so the run ends with it.
struct Stalled: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// A subject that could not be set up, or that did not do what it must.
struct SubjectFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
