import CBenchmarkLimits
import Synchronization

/// A state that one thread changes as fast as it can while others read it: that of a reactor, or of a baseline. The state
/// is a ``ReadState``. One instance serves one repetition.
protocol ReadSubject: AnyObject, Sendable {
  init(_ sign: StopSign) throws

  /// Adds the next number to the state again and again until the sign is up. Called by one thread at a time, the owner.
  /// What it has added is visible to readers when it returns.
  func own()

  /// Calls `body` with a whole state. Called by any thread that has entered.
  func read(_ body: (ReadState) -> Void)

  /// A thread calls these before and after it uses the subject.
  func enterThread()
  func leaveThread()
}

extension ReadSubject {
  func enterThread() {}
  func leaveThread() {}

  /// The owner of a baseline that publishes once for ``StopSign/turn`` actions. A reactor takes some 30 ns to send itself an action.
  /// So this owner computes for as long before each one: otherwise it would publish thirty times as often as the reactor.
  @inline(__always)
  func publishTurns(until sign: StopSign, _ publish: (ReadState) -> Void) {
    var state = ReadState()
    var work: UInt64 = 1
    read { state = $0 }
    while !sign.isUp {
      for _ in 0..<StopSign.turn where !sign.isUp {
        work = bl_compute(work)
        state.addNext()
      }
      publish(state)
    }
  }
}

/// What is read: the sum of the numbers from 1 to `count`, so that a torn state is noticed.
struct ReadState: Sendable {
  private(set) var count: UInt64 = 0
  private(set) var sum: UInt64 = 0

  init() {}

  @inline(__always)
  init(count: UInt64, sum: UInt64) {
    self.count = count
    self.sum = sum
  }

  /// The work of an action, for baselines that send none.
  @inline(__always)
  mutating func addNext() { add(count &+ 1) }

  /// The work of an action.
  @inline(__always)
  mutating func add(_ value: UInt64) {
    count &+= 1
    sum &+= value
  }

  @inline(__always)
  var isWhole: Bool { sum == count &* (count &+ 1) / 2 }
}

/// Tells an owner and its readers when to stop.
final class StopSign: Sendable {
  /// How many actions of a baseline are published together, as in a reactor's turn.
  static let turn = 1024

  private let up = Atomic(false)

  @inline(__always)
  var isUp: Bool { up.load(ordering: .relaxed) }

  func takeDown() { up.store(false, ordering: .relaxed) }
  func putUp() { up.store(true, ordering: .relaxed) }
}

/// What one reader has read: how many states, how many were torn, and how many were older than the one before.
struct ReaderNotes: Sendable {
  private(set) var reads = 0
  private(set) var torn = 0
  private(set) var older = 0
  /// The count of the last state.
  private(set) var last: UInt64 = 0

  @inline(__always)
  mutating func note(_ state: ReadState) {
    reads &+= 1
    if !state.isWhole { torn &+= 1 }
    if state.count < last { older &+= 1 }
    last = state.count
  }

  /// - Parameters:
  ///   - count: The count of the owner's last state.
  ///   - isAtRest: Whether the state did not change meanwhile.
  func check(upTo count: UInt64, isAtRest: Bool) throws {
    if torn > 0 { throw SubjectFailure("\(torn) of \(reads) states that were read were torn") }
    if older > 0 { throw SubjectFailure("\(older) of \(reads) states were older than what was read before") }
    if last > count || (isAtRest && reads > 0 && last != count) {
      throw SubjectFailure("state \(last) was read, and the owner's last is \(count)")
    }
  }
}
