import ReactorCore
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

@testable import ReactorJournal

/// What is seen outside of a reactor while the disk has not synchronised the file: nothing, and a power cut at that moment takes
/// nothing back.
@Suite struct HeldSyncTests {
  private func makeStore(on disk: Disk, _ folder: TemporaryFolder) -> SQLiteStore {
    SQLiteStore(path: folder.file("journal"), access: .readWrite, vfs: disk.name, checkpointBytes: 1 << 20)
  }

  @Test(arguments: [false, true])
  func `Nothing is seen before the file is synchronised`(onLoop: Bool) async throws {
    let (disk, gate, loop) = (Disk(), SyncGate(), try Loop())
    let (folder, otherFolder) = (TemporaryFolder(), TemporaryFolder())
    disk.setGate(gate)
    let journal = try Journal(store: makeStore(on: disk, folder))
    let ledger = Ledger(journal, on: onLoop ? .loop(loop) : .caller)
    try await ledger.sendDurably(.deposit(account: 1, amount: 100))
    let states = SystemMutex<[Int64]>([])
    let effects = Atomic(0)
    let confirmations = Atomic(0)
    let subscription = ledger.state.subscribe(onNext: { state in states.withLock { $0.append(state.total) } })

    gate.close()
    // Otherwise the journal's thread would wait for ever after a failure.
    defer { gate.open() }
    ledger.send(.notify(account: 1, amount: 5) { effects.add(1, ordering: .relaxed) })
    let reply = Task { try await ledger.ask { .depositAndReply(account: 1, amount: 6, $0) } }
    let sending = Task {
      try await ledger.sendDurably(.deposit(account: 1, amount: 7), id: 1)
      confirmations.add(1, ordering: .relaxed)
    }
    while gate.waitingCount == 0 || ledger.latestState.total != 118 { await Task.yield() }
    #expect(ledger.currentState.total == 100)
    #expect(ledger.durableState.total == 100)
    #expect(ledger.durablePosition == 1)
    #expect(states.withLock { $0 } == [100])
    #expect(effects.load(ordering: .relaxed) == 0)
    #expect(confirmations.load(ordering: .relaxed) == 0)
    // The journal's thread waits in the gate, so that it does not use the disk.
    #expect(disk.unsyncedCount > 0)
    let remains = disk.afterPowerCut(Array(repeating: 0, count: disk.unsyncedCount))
    let after = try Journal(store: makeStore(on: remains, otherFolder))
    let other = Ledger(after)
    try other.recover()
    #expect(other.currentState.total == 100)
    try after.end()

    gate.open()
    try await sending.value
    #expect([105, 111, 118].contains(try await reply.value))
    #expect(ledger.currentState.total == 118)
    #expect(effects.load(ordering: .relaxed) == 1)
    #expect(states.withLock { $0.last } == 118)
    subscription.dispose()
    try Shutdown.close([journal, loop], before: .now + .seconds(30))
    withExtendedLifetime((disk, remains, gate, folder, otherFolder)) {}
  }
}
