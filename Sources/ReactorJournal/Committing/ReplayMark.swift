import ReactorCore

/// Says which record is being replayed, in a file that the next process finds: a record that stops the process in `reduce` must
/// not do so again and again.
///
/// A process may also be killed while it replays, by chance at any record. So the first time only notes the position, and
/// the record is tried once more. If the next process ends at the same record, the one after that refuses it, and so do all later ones.
///
/// A program that goes on without the reactor of such a record replays the others. So the file keeps a list of records.
@usableFromInline
package final class ReplayMark: Sendable {
  /// What the words of the file are. The position is 0 while no record is being applied.
  private enum Word: Int {
    case entry, position, lastEntry, lastPosition
    /// The first one of the list.
    case trapped
    static var count: Int { trapped.rawValue + 2 * listedRecords }
    /// If there are more, the oldest ones are forgotten.
    static let listedRecords = 16
  }

  @usableFromInline static let positionWord = 1

  @usableFromInline let words: MappedWords
  /// The records at which two processes have ended: entry and position. The newest first.
  private let trapped: [(entry: UInt64, position: UInt64)]

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
    var listed: [(entry: UInt64, position: UInt64)] = retries ? [] : Self.readList(words)
    if isRepeated, !retries { listed.insert((entry, position), at: 0) }
    trapped = Array(listed.prefix(Word.listedRecords))
    // First: a process that ends here must leave it to the next one.
    writeList()
    if hasEnded {
      words[Word.lastEntry.rawValue] = entry
      words[Word.lastPosition.rawValue] = position
      words[Word.position.rawValue] = 0
    }
  }

  private static func readList(_ words: MappedWords) -> [(entry: UInt64, position: UInt64)] {
    (0..<Word.listedRecords).map { index in
      let word = Word.trapped.rawValue + 2 * index
      return (words[word], words[word + 1])
    }.filter { $0.position != 0 }
  }

  private func writeList() {
    for index in 0..<Word.listedRecords {
      let word = Word.trapped.rawValue + 2 * index
      let record = index < trapped.count ? trapped[index] : (entry: 0, position: 0)
      (words[word], words[word + 1]) = (record.entry, record.position)
    }
  }

  /// Notes the position of the record that is applied next; 0 if none is.
  @inlinable
  func store(_ position: UInt64) { words[Self.positionWord] = position }

  /// - Throws: ``JournalError/trapped(entry:position:)`` if two processes have ended at a record of the entry.
  func check(_ entry: JournalEntry) throws(JournalError) {
    if let trapped = trapped.first(where: { $0.entry == entry.number }) {
      throw .trapped(entry: entry.name, position: trapped.position)
    }
  }

  /// Notes whose records are replayed.
  ///
  /// - Returns: What notes the positions.
  func begin(_ entry: JournalEntry) -> ReplayMark {
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
