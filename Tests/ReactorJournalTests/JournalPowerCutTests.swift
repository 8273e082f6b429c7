import ReactorCore
import ReactorRuntime
import SimulatedDisk
import Synchronization
import TestSupport
import Testing

@testable import ReactorJournal

/// Reactors above a disk whose power is cut at each of its calls, while durable sends are in flight.
@Suite struct JournalPowerCutTests {
  /// Everything that a reactor has recorded, in one list.
  private final class Chain: DurableReactor {
    enum Action: Sendable {
      case append(UInt64)
      /// Two mutations, both or none.
      case appendPair(UInt64)
    }

    struct Mutation: JournalRecord {
      let value: UInt64

      init(_ value: UInt64) { self.value = value }
      func encode(into encoder: inout RecordEncoder) { encoder.append(value) }
      init(from decoder: inout RecordDecoder, version: UInt16) throws(MalformedRecord) {
        value = try decoder.read()
      }
    }

    struct State: Codable, Sendable { var values: [UInt64] = [] }

    static let firstOfPair: UInt64 = 1 << 62
    static let secondOfPair: UInt64 = 1 << 63
    static let schema = Schema("chain")
    let initialState = State()
    let runtime: Runtime<Action, Mutation, State>
    /// What this process has recorded, in the order of the turns.
    let order = Record<UInt64>()

    init(_ journal: Journal, _ name: String) { runtime = Runtime(journal: journal.entry(name)) }

    func mutate(action: Action) -> Observable<Mutation> {
      switch action {
      case .append(let value):
        order.append(value)
        return .just(Mutation(value))
      case .appendPair(let value):
        order.append(value | Self.firstOfPair)
        order.append(value | Self.secondOfPair)
        return .of(Mutation(value | Self.firstOfPair), Mutation(value | Self.secondOfPair))
      }
    }

    func reduce(into state: inout State, mutation: Mutation) { state.values.append(mutation.value) }

    static func digest(of state: borrowing State) -> UInt64? {
      var sum: UInt64 = 0
      for value in state.values { sum = sum &* 31 &+ value }
      return sum
    }
  }

  /// One process: its reactors, what was confirmed to its clients, and what they were still waiting for.
  private final class Run: Sendable {
    struct Request: Sendable {
      let reactor: Int
      let value: UInt64

      var isPair: Bool { value % 3 == 0 }
      var action: Chain.Action { isPair ? .appendPair(value) : .append(value) }
      var recorded: [UInt64] {
        isPair ? [value | Chain.firstOfPair, value | Chain.secondOfPair] : [value]
      }
    }

    let confirmed = Record<Request>()
    let unfinished = Record<Request>()
    /// For each reactor, the largest number of values that another thread was shown.
    let shown = SystemMutex([0, 0])
    let orders = SystemMutex<[[UInt64]]>([[], []])

    /// Runs until everything is done or the disk fails.
    ///
    /// - Returns: Whether everything was done.
    func perform(on disk: Disk) async -> Bool {
      let folder = TemporaryFolder()
      var configuration = JournalConfiguration()
      (configuration.snapshotRecords, configuration.snapshotRatio, configuration.digestRecords) = (8, 0, 5)
      let store = SQLiteStore(
        path: folder.file("journal"), access: .readWrite, vfs: disk.name, checkpointBytes: 8 * 4096)
      guard let journal = try? Journal(store: store, configuration: configuration) else { return false }
      let reactors = [Chain(journal, "a"), Chain(journal, "b")]
      var isDone = false
      if (try? journal.recover(reactors)) != nil {
        let observers = reactors.indices.map { index in
          reactors[index].state.subscribe(onNext: { [shown] state in
            shown.withLock { $0[index] = max($0[index], state.values.count) }
          })
        }
        await withTaskGroup(of: Void.self) { group in
          for client in 0..<3 as Range<UInt64> { group.addTask { await self.serve(client, reactors) } }
          group.addTask { _ = try? await journal.compact() }
        }
        isDone = (try? await journal.compact()) != nil && unfinished.elements.isEmpty
        for observer in observers { observer.dispose() }
      }
      #expect(throws: Never.self) { try Shutdown.close([journal], before: .now + .seconds(30)) }
      orders.withLock { $0 = reactors.map(\.order.elements) }
      return isDone && journal.failure == nil
    }

    private func serve(_ client: UInt64, _ reactors: [Chain]) async {
      for step in 0..<5 as Range<UInt64> {
        let request = Request(reactor: Int(step + client) % 2, value: client * 100 + step)
        // Not confirmed; what is confirmed later comes after it.
        reactors[request.reactor].send(.append(1000 + request.value))
        do throws(DurabilityError) {
          try await reactors[request.reactor].sendDurably(request.action, id: UInt128(request.value))
        } catch {
          return unfinished.append(request)
        }
        confirmed.append(request)
      }
    }
  }

  /// Starts again on what the power cut has left.
  private func check(_ run: Run, on disk: Disk, _ context: @autoclosure () -> String) async throws {
    let folder = TemporaryFolder()
    #expect(!disk.hasLostCommits(), "\(context())")
    let store = SQLiteStore(
      path: folder.file("journal"), access: .readWrite, vfs: disk.name, checkpointBytes: 1 << 20)
    let journal = try Journal(store: store)
    let reactors = [Chain(journal, "a"), Chain(journal, "b")]
    try journal.recover(reactors)
    let (orders, shown) = (run.orders.withLock { $0 }, run.shown.withLock { $0 })
    for (index, reactor) in reactors.enumerated() {
      let values = reactor.currentState.values
      let isPrefix = values == Array(orders[index].prefix(values.count))
      #expect(isPrefix, "\(context()): \(values) is no prefix of \(orders[index])")
      #expect(values.count >= shown[index], "\(context()): what was shown is gone")
      #expect((values.last ?? 0) & Chain.firstOfPair == 0, "\(context()): half of an action")
      for request in run.confirmed.elements where request.reactor == index {
        let isThere = request.recorded.allSatisfy(values.contains)
        #expect(isThere, "\(context()): \(request) was confirmed, and there is \(values)")
      }
    }
    // Whether they happened is not known. Sent again, each has one effect.
    for request in run.unfinished.elements {
      try await reactors[request.reactor].sendDurably(request.action, id: UInt128(request.value))
      let values = reactors[request.reactor].currentState.values
      for value in request.recorded { #expect(values.count { $0 == value } == 1, "\(context()): \(request)") }
    }
    try journal.end()
    withExtendedLifetime(disk) {}
  }

  @Test func `After a power cut at any call reactors have a prefix of their order with everything confirmed`()
    async throws
  {
    var random = SplitMix64(seed: 16)
    var (cuts, confirmed) = (0, 0)
    // On a busy machine more requests share a commit, so there are fewer calls at which the power can fail: then once more.
    for _ in 0..<3 where cuts <= 300 || confirmed <= 300 {
      var call = 0 as UInt64
      while true {
        let disk = Disk()
        disk.fail(at: call, SD_POWER_CUT)
        let run = Run()
        if await run.perform(on: disk) { break }
        confirmed += run.confirmed.elements.count
        let remains = StorePowerCutTests.remains(of: disk.unsyncedCount, &random).shuffled(using: &random)
        for parts in remains.prefix(8) {
          try await check(run, on: disk.afterPowerCut(parts), "power cut at call \(call), left \(parts)")
          cuts += 1
        }
        call += 1
      }
    }
    #expect(cuts > 300)
    #expect(confirmed > 300)
  }
}
