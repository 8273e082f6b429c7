import ReactorCore

/// Says which record is being replayed, in a place that the next process finds: a record that stops the process in `reduce` must
/// not do so again and again.
@usableFromInline
package final class ReplayMark: Sendable {
  @inlinable
  func store(_ position: UInt64) {}

  func check(_ entry: JournalEntry) throws(JournalError) {}
  func begin(_ entry: JournalEntry) {}
  func end() {}
}
