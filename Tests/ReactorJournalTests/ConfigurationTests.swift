import ReactorJournal
import ReactorJournalTesting
import TestSupport
import Testing

/// Limits that mean nothing.
@Suite struct ConfigurationTests {
  /// A number, which an exit test can capture.
  private enum Limit: Int, CaseIterable {
    case buffer, commit, snapshotRecords, snapshotRatio, digest, requests

    func change(_ configuration: inout JournalConfiguration, by difference: Int) {
      switch self {
      case .buffer: configuration.bufferBytes = 1 + difference
      case .commit: configuration.commitBytes = 1 + difference
      case .snapshotRecords: configuration.snapshotRecords = 1 + difference
      case .snapshotRatio: configuration.snapshotRatio = Double(difference)
      case .digest: configuration.digestRecords = 1 + difference
      case .requests: configuration.requestWindow = difference
      }
    }
  }

  @Test(arguments: Limit.allCases)
  private func `A limit with which nothing would go on stops the program at once`(_ limit: Limit) async throws
  {
    let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [number = limit.rawValue as Int] in
      var configuration = JournalConfiguration()
      Limit(rawValue: number)?.change(&configuration, by: -1)
      _ = try Journal(store: InMemoryStore(), configuration: configuration)
    }
    #expect(stop?.standardErrorContent.says("; it must") == true)
  }

  @Test(arguments: Limit.allCases)
  private func `The smallest limits let each action through`(_ limit: Limit) async throws {
    var configuration = JournalConfiguration()
    limit.change(&configuration, by: 0)
    let journal = try Journal(store: InMemoryStore(), configuration: configuration)
    let ledger = Ledger(journal)
    for id in 0..<10 { try await ledger.sendDurably(.deposit(account: 1, amount: 1), id: UInt128(id)) }
    #expect(ledger.currentState.total == 10)
    try journal.end()
  }
}
