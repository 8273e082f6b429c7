import Foundation
import JournalCrashSupport
import ReactorCore
import ReactorJournalTesting
import ReactorRuntime
import Testing

@testable import ReactorJournal

/// A record that stops each process that replays it.
@Suite struct TrapTests {
  /// Replays the journal in a process of its own.
  ///
  /// - Parameter number: The number at which `reduce` traps there.
  private func start(_ path: String, trapsAt number: UInt64?, _ options: String...) throws -> (
    hasTrapped: Bool, status: Int32, errors: String
  ) {
    let process = Process()
    let errors = Pipe()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appendingPathComponent("journal-child")
    process.arguments = ["--replay", path, "\(number ?? 0)"] + options
    // The traces of Swift's runtime would take seconds.
    process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    process.standardError = errors
    try process.run()
    let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationReason == .uncaughtSignal, process.terminationStatus, text)
  }

  private func write(_ path: String) async throws {
    let journal = try Journal(at: path)
    let reactor = Fragile(journal, trapsAt: nil)
    for number in 1...8 as ClosedRange<UInt64> { try await reactor.sendDurably(number) }
    try journal.end()
  }

  @Test func `A record that traps in reduce stops two processes and is refused by the third`() async throws {
    let folder = TemporaryFolder()
    let path = folder.file("journal")
    try await write(path)
    for _ in 0..<2 { #expect(try start(path, trapsAt: 5).hasTrapped) }
    // Also by a program that is correct by now, until it is told to replay the record again.
    for number in [5, nil] as [UInt64?] {
      let refused = try start(path, trapsAt: number)
      #expect(!refused.hasTrapped)
      #expect(refused.status == 1)
      #expect(refused.errors.contains(#"trapped(entry: "fragile", position: 5)"#), "\(refused.errors)")
    }
    #expect(try start(path, trapsAt: nil, "--again").status == 0)
    #expect(try start(path, trapsAt: nil).status == 0)
  }

  @Test func `A process that finds the journal locked leaves the mark of the other one`() async throws {
    let folder = TemporaryFolder()
    let path = folder.file("journal")
    try await write(path)
    let journal = try Journal(at: path)
    let words = try MappedWords(path: path + "-replay", count: 4)
    // As if this process was replaying a record at which one has ended before.
    let mark: [UInt64] = [1, 5, 1, 4]
    for (index, word) in mark.enumerated() { words[index] = word }
    #expect(throws: JournalError.locked) { try Journal(at: path) }
    #expect(mark.indices.map { words[$0] } == mark)
    try journal.end()
  }

  @Test func `Records that stop processes by turns are refused after two each`() throws {
    let folder = TemporaryFolder()
    let journal = try Journal(store: InMemoryStore())
    let entries = (1...100).map { journal.entry("\($0)") }
    let path = folder.file("mark")
    for entry in entries + entries {
      let mark = try ReplayMark(path: path, retries: false)
      try mark.check(entry)
      mark.begin(entry).store(5)
    }
    let mark = try ReplayMark(path: path, retries: false)
    for entry in entries {
      #expect(throws: JournalError.trapped(entry: entry.name, position: 5)) { try mark.check(entry) }
    }
    // A process that tries again and ends at one of them: the next one refuses that, but not the others.
    let retrying = try ReplayMark(path: path, retries: true)
    for entry in entries { try retrying.check(entry) }
    retrying.begin(entries[7]).store(5)
    let next = try ReplayMark(path: path, retries: false)
    #expect(throws: JournalError.trapped(entry: entries[7].name, position: 5)) { try next.check(entries[7]) }
    for entry in entries where entry.number != entries[7].number { try next.check(entry) }
    try journal.end()
  }

  @Test func `A record that was replayed is forgotten, also if others have stopped processes since`() throws {
    let folder = TemporaryFolder()
    let journal = try Journal(store: InMemoryStore())
    let (first, second) = (journal.entry("first"), journal.entry("second"))
    let path = folder.file("mark")
    for entry in [first, second] { try ReplayMark(path: path, retries: false).begin(entry).store(5) }
    try ReplayMark(path: path, retries: false).forget(first.number)
    for entry in [first, second] { try ReplayMark(path: path, retries: false).begin(entry).store(5) }
    let mark = try ReplayMark(path: path, retries: false)
    try mark.check(first)
    #expect(throws: JournalError.trapped(entry: "second", position: 5)) { try mark.check(second) }
    try journal.end()
  }

  @Test func `While one record is refused, another one that traps is noticed as well`() throws {
    let folder = TemporaryFolder()
    let journal = try Journal(store: InMemoryStore())
    let (first, second) = (journal.entry("first"), journal.entry("second"))
    let path = folder.file("mark")
    // Two processes have ended at a record of the first entry. Two more end at one of the second.
    for entry in [first, first, second, second] {
      let mark = try ReplayMark(path: path, retries: false)
      try mark.check(entry)
      let record = mark.begin(entry)
      record.store(entry.number == first.number ? 5 : 9)
    }
    for _ in 0..<2 {
      let mark = try ReplayMark(path: path, retries: false)
      #expect(throws: JournalError.trapped(entry: "first", position: 5)) { try mark.check(first) }
      #expect(throws: JournalError.trapped(entry: "second", position: 9)) { try mark.check(second) }
    }
    let retrying = try ReplayMark(path: path, retries: true)
    for entry in [first, second] {
      try retrying.check(entry)
      _ = retrying.begin(entry)
      retrying.forget(entry.number)
    }
    let next = try ReplayMark(path: path, retries: false)
    for entry in [first, second] { try next.check(entry) }
    try journal.end()
  }
}
