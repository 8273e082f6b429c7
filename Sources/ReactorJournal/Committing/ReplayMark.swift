import ReactorCore

/// Says which record is being replayed, in a file that the next process finds: a record that stops the process in `reduce` must
/// not do so again and again.
///
/// A process may also be killed while it replays, by chance at any record. So the first time only notes the record, which is tried once
/// more. If another process ends at it, the one after that refuses it, and so do all later ones. Other processes may have ended at other
/// records in between: a program recovers its reactors in any order.
///
/// A program that goes on without the reactor of such a record replays the others. So the file keeps a list of records.
@usableFromInline
package final class ReplayMark: Sendable {
  /// What the words of the file are. The position is 0 while no record is being applied.
  private enum Word: Int {
    case entry, position, unused, unusedToo
    /// The first one of the list.
    case list
    /// One page.
    static var count: Int { 512 }
    /// If there are more, the oldest ones are forgotten.
    static var listedRecords: Int { (count - list.rawValue) / 2 }
    /// The first of the two of a record in the list.
    static func listed(_ index: Int) -> Int { list.rawValue + 2 * index }
  }

  /// A record at which processes have ended.
  private struct Record: Sendable {
    var entry: UInt64
    var position: UInt64
    /// Whether at least two have.
    var isTrapped: Bool

    init(entry: UInt64, position: UInt64, isTrapped: Bool) {
      self.entry = entry
      self.position = position
      self.isTrapped = isTrapped
    }

    /// The bit of the first word that says that it was one process. The number of an entry has 32 bits.
    private static var once: UInt64 { 1 << 32 }

    init(_ words: (UInt64, UInt64)) {
      self.init(entry: words.0 & ~Self.once, position: words.1, isTrapped: words.0 & Self.once == 0)
    }

    var words: (UInt64, UInt64) { (isTrapped ? entry : entry | Self.once, position) }
  }

  @usableFromInline static let positionWord = 1

  @usableFromInline let words: MappedWords
  /// The newest first.
  private let records: [Record]

  /// Reads and changes the mark. So only the process that has the store open may do this.
  ///
  /// - Parameter path: Of the file.
  /// - Parameter retries: Whether records are tried again at which two processes have ended. If one more ends at one of them, the next
  ///   process refuses that.
  /// - Throws: ``JournalError/diskFull``, or the reason why the file cannot be used.
  package init(path: String, retries: Bool) throws(JournalError) {
    do throws(MappedWords.Refusal) {
      words = try MappedWords(path: path, count: Word.count)
    } catch {
      if error.isDiskFull { throw .diskFull }
      throw .failed(code: error.code, message: "The file \(path) cannot be used: \(error)")
    }
    var records = Self.readList(words)
    if retries { for index in records.indices { records[index].isTrapped = false } }
    let (entry, position) = (words[Word.entry.rawValue], words[Word.position.rawValue])
    let hasEnded = position != 0
    if hasEnded {
      let known = records.firstIndex { $0.entry == entry && $0.position == position }
      if let known { records.remove(at: known) }
      records.insert(Record(entry: entry, position: position, isTrapped: known != nil && !retries), at: 0)
    }
    self.records = Array(records.prefix(Word.listedRecords))
    // First: a process that ends here must leave it to the next one.
    if hasEnded || retries { writeList() }
    if hasEnded { words[Word.position.rawValue] = 0 }
  }

  private static func readList(_ words: MappedWords) -> [Record] {
    (0..<Word.listedRecords).map { record(words, at: Word.listed($0)) }.filter { $0.position != 0 }
  }

  private static func record(_ words: MappedWords, at word: Int) -> Record {
    Record((words[word], words[word + 1]))
  }

  private func writeList() {
    for index in 0..<Word.listedRecords {
      let word = Word.listed(index)
      (words[word], words[word + 1]) = index < records.count ? records[index].words : (0, 0)
    }
  }

  /// Notes the position of the record that is applied next; 0 if none is.
  @inlinable
  func store(_ position: UInt64) { words[Self.positionWord] = position }

  /// - Throws: ``JournalError/trapped(entry:position:)`` if two processes have ended at a record of the entry.
  func check(_ entry: JournalEntry) throws(JournalError) {
    if !records.contains(where: { $0.entry == entry.number }) { return }
    // As they are in the file: the list in memory also has those that were forgotten since.
    if let trapped = Self.readList(words).first(where: { $0.isTrapped && $0.entry == entry.number }) {
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

  /// Forgets at which records of an entry processes have ended: all of them were replayed, or the entry is new. One thread at a time.
  func forget(_ entry: UInt32) {
    if !records.contains(where: { $0.entry == entry }) { return }
    // As they are in the file: perhaps this was done before, so the list in memory is not that.
    for word in (0..<Word.listedRecords).map(Word.listed)
    where Self.record(words, at: word).entry == entry {
      (words[word], words[word + 1]) = (0, 0)
    }
  }
}
