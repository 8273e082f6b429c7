import ReactorCore

/// Says which record is being replayed, in a file that the next process finds: a record that stops the process in `reduce` must
/// not do so again and again.
///
/// A process may also be killed while it replays, by chance at any record. So the first time only notes the position, and
/// the record is tried once more. If the next process ends at the same record, the one after that refuses it.
@usableFromInline
package final class ReplayMark: Sendable {
  /// What the words of the file are. The position is 0 while no record is being applied.
  private enum Word: Int {
    case entry, position, lastEntry, lastPosition
    static let count = 4
  }

  @usableFromInline static let positionWord = 1

  @usableFromInline let words: MappedWords
  /// The record at which two processes have ended.
  private let trapped: (entry: UInt64, position: UInt64)?

  /// Reads and changes the mark. So only the process that has the store open may do this.
  ///
  /// - Parameter path: Of the file.
  /// - Parameter retries: Whether a record is tried again at which two processes have ended.
  /// - Throws: ``JournalError/diskFull``, or the reason why the file cannot be used.
  package init(path: String, retries: Bool) throws(JournalError) {
    do throws(MappedWords.Refusal) {
      words = try MappedWords(path: path, count: Word.count)
    } catch {
      if error.isDiskFull { throw .diskFull }
      throw .failed(code: error.code, message: "The file \(path) cannot be used: \(error)")
    }
    let entry = words[Word.entry.rawValue]
    let position = words[Word.position.rawValue]
    let hasEnded = position != 0
    let isRepeated =
      hasEnded && entry == words[Word.lastEntry.rawValue] && position == words[Word.lastPosition.rawValue]
    trapped = isRepeated && !retries ? (entry, position) : nil
    if hasEnded {
      words[Word.lastEntry.rawValue] = entry
      words[Word.lastPosition.rawValue] = position
    }
    // A process that refuses leaves the mark as it is.
    if trapped == nil { words[Word.position.rawValue] = 0 }
  }

  /// Notes the position of the record that is applied next; 0 if none is.
  @inlinable
  func store(_ position: UInt64) { words[Self.positionWord] = position }

  /// - Throws: ``JournalError/trapped(entry:position:)`` if two processes have ended at a record of the entry.
  func check(_ entry: JournalEntry) throws(JournalError) {
    if let trapped, trapped.entry == entry.number {
      throw .trapped(entry: entry.name, position: trapped.position)
    }
  }

  /// Notes whose records are replayed.
  ///
  /// - Returns: What notes the positions; nil if a process that refuses another entry must leave the mark as it is.
  func begin(_ entry: JournalEntry) -> ReplayMark? {
    guard trapped == nil else { return nil }
    words[Word.entry.rawValue] = UInt64(entry.number)
    return self
  }

  /// Forgets at which record of the entry a process has ended: all of them were replayed.
  func succeed(_ entry: JournalEntry) {
    guard words[Word.lastEntry.rawValue] == entry.number else { return }
    words[Word.lastEntry.rawValue] = 0
    words[Word.lastPosition.rawValue] = 0
  }
}
