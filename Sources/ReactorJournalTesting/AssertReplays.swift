import Foundation
import ReactorJournal
import ReactorRuntime

/// Replays the history of a reactor in several ways, which must all give the same states:
///
/// - from its first record on, in this process,
/// - in another process, in which hashes have other seeds, so that sets and dictionaries have another order,
/// - from each stored snapshot on.
///
/// A `reduce` that depends on the order of a `Set`, on `hashValue`, on a clock or on a random number is found so, before a restart
/// makes it lose data.
///
/// ```swift
/// @Test func `A ledger replays`() async throws {
///   let journal = try Journal(at: path)
///   let ledger = Ledger(journal)
///   …                                       // actions as in production
///   try Shutdown.close([journal], before: .now + .seconds(10))
///   try assertReplays(path, entry: "ledger/1", of: Ledger(Journal(store: InMemoryStore())))
/// }
/// ```
///
/// The other process is this test program again, told to run the tests of the calling function: what the function does before this
/// call happens there, too, but the history is a copy of the one of this process. With a path that is the same in each process, the other
/// one writes to the same file: do not read it after the call. The other process ends inside of this call. So call it in a
/// function of Swift Testing. It waits ten minutes at most. If a line makes several calls, the other process makes the one with the
/// same number: let the cases of a test with arguments run one after the other (`.serialized`) if their reactors differ.
///
/// If the first records were removed (`Journal.compact()`), the replay begins with the oldest snapshot instead.
///
/// - Parameters:
///   - path: The file of a journal that no process has open.
///   - entry: The reactor's name in it.
///   - reactor: A reactor whose `reduce` is called; it need not belong to a journal with records.
///   - file: The calling file.
///   - function: The calling function.
///   - line: The calling line.
/// - Throws: ``ReplayDifference`` if the states differ, or if the other process did not answer; `JournalError` if the journal cannot
///   be read.
/// - Complexity: O(records × number of replays), and it keeps 64 states.
public func assertReplays<R: DurableReactor>(
  _ path: String, entry: String, of reactor: R, file: String = #fileID, function: String = #function,
  line: Int = #line
) throws where R.State: Equatable {
  let call = "\(file):\(line) \(entry)"
  let number = OtherProcess.number(of: call)
  if let task = OtherProcess.task {
    if task.call != call { return }
    // Also before it is the same call: the first process may have made more of them, if it repeats its tests.
    try ReplayTrace(task.history, entry, reactor).write(to: task.answer)
    if number < task.number { return }
    exit(0)
  }
  let trace = try ReplayTrace(path, entry, reactor)
  try trace.checkSnapshots(path, reactor)
  let other = try OtherProcess.run(call, number, history: path, file: file, function: function)
  try trace.compare(with: try ReplayTrace<R>(reading: other))
}

/// How two replays of a history differ.
public enum ReplayDifference: Error, Sendable, Equatable {
  /// Another process has another state after some record from the first to the second position.
  case otherProcess(after: UInt64, upTo: UInt64)
  /// The stored snapshot with this position cannot be decoded, or is not what the records before it give; or a snapshot that is made at
  /// this position does not contain the whole state.
  case snapshot(position: UInt64)
  /// The records behind the snapshot with this position do not lead to the same state from there.
  case tail(position: UInt64)
  /// The other process has ended without an answer: what it has printed last.
  case noAnswer(String)
}

extension ReplayDifference: CustomStringConvertible {
  public var description: String {
    switch self {
    case .otherProcess(let first, let last):
      """
      Problem: a replay in another process gives another state, for a record behind position \(first), up to \(last).
      Likely cause: reduce depends on the order of a Set or a Dictionary, or on hashValue.
      Remedy: sort, or decide in mutate and put the decision into the mutation.
      """
    case .snapshot(let position), .tail(let position):
      """
      Problem: the snapshot at position \(position), or what follows it, does not give the state that all records give.
      Likely cause: the snapshot cannot be decoded; or reduce depends on a clock, on a random number, on an order, or on what the \
      snapshot does not contain.
      Remedy: decode also what older programs have encoded; encode the whole state; decide in mutate and put the decision into the \
      mutation.
      """
    case .noAnswer(let output):
      """
      Problem: the other process has not replayed the history.
      Likely cause: the calling function is not a test of Swift Testing, or fails before the call when it runs alone.
      Its output: \(output)
      """
    }
  }
}
