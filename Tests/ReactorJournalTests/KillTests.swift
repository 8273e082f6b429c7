import Foundation
import JournalCrashSupport
import ReactorCore
import ReactorJournal
import ReactorRuntime
import TestSupport
import Testing

/// A process that is killed at random moments: in commits, checkpoints, snapshots, compactions and recoveries.
@Suite struct KillTests {
  /// How often; the long mode takes 1000.
  private static let rounds = ProcessInfo.processInfo.environment["RR_KILLS"].flatMap { Int($0) } ?? 50

  @Test func `What a killed process has confirmed or shown is there, and nothing has a hole`() throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("kill-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let path = directory.appendingPathComponent("journal").path
    let acknowledgements = directory.appendingPathComponent("seen").path
    let seen = try #require(Acknowledgements(path: acknowledgements))
    var random = SplitMix64(seed: 16)
    for round in 0..<Self.rounds {
      let process = try Self.startChild(path, acknowledgements)
      // On a busy machine, a child may always be killed before it has confirmed anything.
      if round % 3 == 2 {
        let before = seen.sum
        #expect(
          Threads.yield {
            usleep(1000)
            return seen.sum > before || !process.isRunning
          })
      }
      // Every fourth one hardly gets further than its recovery.
      usleep(UInt32.random(in: 0..<(round % 4 == 0 ? 30_000 : 120_000), using: &random))
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      #expect(process.terminationReason == .uncaughtSignal, "round \(round): the child has ended by itself")
      if round % 5 == 4 { try check(path, seen, round) }
    }
    #expect((0..<Sequences.accounts).allSatisfy { seen[0, $0] > 0 && seen[1, $0] > 0 })
    #expect((0..<Sequences.accounts).allSatisfy { seen[shownBy: 0, $0] > 0 })
  }

  /// Not only the test looks for that, which is not there between most kills.
  @Test(arguments: [false, true])
  func `A process that does not find what was confirmed or shown ends with an error`(isShown: Bool) throws {
    let folder = TemporaryFolder()
    let seen = try #require(Acknowledgements(path: folder.file("seen")))
    if isShown { seen[shownBy: 1, 2] = 5 } else { seen[1, 2] = 5 }
    let process = try Self.startChild(folder.file("journal"), folder.file("seen"))
    #expect(Threads.yield { !process.isRunning })
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 1)
  }

  private static func startChild(_ path: String, _ acknowledgements: String) throws -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appendingPathComponent("journal-child")
    process.arguments = [path, acknowledgements]
    try process.run()
    return process
  }

  private func check(_ path: String, _ seen: Acknowledgements, _ round: Int) throws {
    let journal = try Journal(at: path, configuration: .busy)
    for index in 0..<2 {
      let reactor = Sequences(journal, "sequences/\(index)")
      try reactor.recover()
      let state = reactor.currentState
      #expect(state.isWhole, "round \(round)")
      for account in 0..<Sequences.accounts {
        #expect(state.numbers[account] >= seen[index, account], "round \(round): confirmed and lost")
        #expect(state.numbers[account] >= seen[shownBy: index, account], "round \(round): shown and lost")
      }
    }
    try journal.end()
  }
}
