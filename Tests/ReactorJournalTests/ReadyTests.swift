import Foundation
import ReactorJournal
import ReactorRuntime
import Testing

private let recordCount = ProcessInfo.processInfo.environment["RR_READY"].flatMap { Int($0) }

/// How long it takes until reactors with a long history and snapshots are ready. Not by default: it writes much. `RR_READY` says how
/// many mutations.
@Suite(.enabled(if: recordCount != nil), .serialized) struct ReadyTests {
  @Test(arguments: [1, 10_000])
  func `A reactor with a snapshot is ready within a second, and ten thousand within five`(reactors: Int)
    async throws
  {
    let count = try #require(recordCount)
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
      "ready-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let path = directory.appendingPathComponent("journal").path
    // So that the figure does not depend on when a snapshot happens to be due.
    var configuration = JournalConfiguration()
    configuration.snapshotRecords = .max
    let tail = max(1, count / 100)
    try await write(count, tail, reactors, path, configuration)

    for isShared in reactors > 1 ? [true, false] : [true] {
      // One after the other for a hundredth of them is enough to see how long all would take.
      let names = isShared ? reactors : reactors / 100
      let begin = ContinuousClock.now
      let journal = try Journal(at: path, configuration: configuration)
      let opened = ContinuousClock.now
      let ledgers = (0..<names).map { Ledger(journal, entry: "ledger/\($0)") }
      if isShared { try journal.recover(ledgers) } else { for ledger in ledgers { try ledger.recover() } }
      let end = ContinuousClock.now
      print(
        "\(count) mutations, \(tail) behind the snapshots; \(names) of \(reactors) reactors,",
        isShared ? "together:" : "one by one:", "opened in \(opened - begin), ready after \(end - begin)")
      if isShared {
        #expect(ledgers.reduce(0) { $0 + $1.currentState.changes } == count)
        #expect(end - begin < .seconds(reactors == 1 ? 1 : 5))
      }
      try Shutdown.close([journal], before: .now + .seconds(60))
    }
  }

  private func write(
    _ count: Int, _ tail: Int, _ reactors: Int, _ path: String, _ configuration: JournalConfiguration
  ) async throws {
    let journal = try Journal(at: path, configuration: configuration)
    let ledgers = (0..<reactors).map { Ledger(journal, entry: "ledger/\($0)") }
    for number in 0..<(count - tail) {
      ledgers[number % reactors].send(.deposit(account: UInt32(number % 8), amount: 1))
    }
    for ledger in ledgers { try await ledger.sendDurably(.transfer(from: 9, to: 1, amount: 1)) }
    try await journal.compact()
    for number in 0..<tail {
      ledgers[number % reactors].send(.deposit(account: UInt32(number % 8), amount: 1))
    }
    try Shutdown.close([journal], before: .now + .seconds(600))
  }
}
