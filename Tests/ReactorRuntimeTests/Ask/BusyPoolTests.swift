import ReactorCore
import TestSupport
import Testing

@testable import ReactorRuntime

/// Waits of an actor on a loop while the pool of threads is busy. Each test is a process of its own, since nothing else goes on there
/// meanwhile.
@Suite struct BusyPoolTests {
  /// More tasks than the pool has threads. What comes later waits behind them.
  private final class BusyPool: Sendable {
    private let mayGoOn = Gate()
    private let hasGivenUp = Gate()

    init() {
      // So that a task that needs the pool fails the test instead of hanging.
      let deadline = ContinuousClock.now + .seconds(patience)
      for _ in 0..<512 {
        Task.detached(priority: Task.currentPriority) { [mayGoOn, hasGivenUp] in
          let left = Int((deadline - .now).components.seconds)
          if !mayGoOn.wait(seconds: max(0, left)) { hasGivenUp.open() }
        }
      }
    }

    /// Lets the tasks end. Stops the program if some have ended before.
    func end() {
      precondition(!hasGivenUp.isOpen, "a task of the actor has waited for the pool")
      mayGoOn.open()
    }
  }

  private actor Client {
    let loop: Loop

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init() throws { loop = try Loop() }

    /// Asks for what does not come, and returns why there is no reply.
    private func failure(of account: BankAccount, before deadline: ContinuousClock.Instant?) async -> String?
    {
      do throws(AskError) {
        _ = try await account.ask(before: deadline) { .waitFor(1, $0) }
        return nil
      } catch { return "\(error)" }
    }

    func ask(_ account: BankAccount, before deadline: ContinuousClock.Instant) async -> String? {
      let pool = BusyPool()
      defer { pool.end() }
      return await failure(of: account, before: deadline)
    }

    func askAndCancel(_ account: BankAccount) async -> Record<String?> {
      let (pool, failures) = (BusyPool(), Record<String?>())
      defer { pool.end() }
      await SuspendedTask.suspend { waiting in
        let asking = Task {
          failures.append(await failure(of: account, before: nil))
          waiting.resume()
        }
        // When the first piece of that task has begun to wait.
        try? loop.execute { asking.cancel() }
        return true
      }
      return failures
    }

    func send(_ actions: Range<Int>, to reactor: Script, before deadline: ContinuousClock.Instant) async
      -> SendError?
    {
      let pool = BusyPool()
      defer { pool.end() }
      do throws(SendError) {
        for action in actions { try await reactor.sendSuspending(action, before: deadline) }
        return nil
      } catch { return error }
    }

    func waitForEnd(of reactor: Script) async -> [Bool] {
      let pool = BusyPool()
      defer { pool.end() }
      let isEarly = await reactor.suspendUntilEnded(before: .now + .milliseconds(20))
      reactor.close()
      await reactor.waitUntilEnded()
      return [isEarly, await reactor.suspendUntilEnded(before: .now + .seconds(patience))]
    }

    func close(_ parts: [any Closeable]) async throws(ShutdownError) {
      let pool = BusyPool()
      defer { pool.end() }
      try await Shutdown.closeSuspending(parts, before: .now + .seconds(patience))
    }
  }

  @Test func `a request ends at its deadline`() async {
    await #expect(processExitsWith: .success) {
      let failure = try await Client().ask(BankAccount(), before: .now + .milliseconds(20))
      precondition(failure == "\(AskError.timedOut)")
    }
  }

  @Test func `a request ends when its task is cancelled`() async {
    await #expect(processExitsWith: .success) {
      let failures = try await Client().askAndCancel(BankAccount())
      precondition(failures.elements == ["\(AskError.cancelled)"])
    }
  }

  @Test func `a task that waits for room gives up at its deadline`() async {
    await #expect(processExitsWith: .success) {
      let (loop, isInside, mayGoOn) = (try Loop(), Gate(), Gate())
      let reactor = Script.held(on: .loop(loop), capacity: 1, isInside: isInside, mayGoOn: mayGoOn)
      reactor.send(0)
      precondition(isInside.wait())
      while (try? reactor.trySend(1)) != nil {}
      let failure = try await Client().send(2..<3, to: reactor, before: .now + .milliseconds(20))
      precondition(failure == .timedOut)
      mayGoOn.open()
      loop.shutdown()
    }
  }

  @Test func `a task on the loop of a reactor sends more than it has room for`() async {
    await #expect(processExitsWith: .success) {
      let client = try Client()
      let reactor = Script(on: .loop(client.loop), capacity: 4)
      let failure = await client.send(0..<100, to: reactor, before: .now + .seconds(patience))
      precondition(failure == nil)
      precondition(Threads.yield { reactor.currentState == Array(0..<100) })
    }
  }

  @Test func `a task waits for the end of a reactor`() async {
    await #expect(processExitsWith: .success) {
      let loop = try Loop()
      let hasEnded = try await Client().waitForEnd(of: Script(on: .loop(loop)))
      precondition(hasEnded == [false, true])
      loop.shutdown()
    }
  }

  @Test func `a shutdown begins and ends`() async {
    await #expect(processExitsWith: .success) {
      let loop = try Loop()
      try await Client().close([Script(on: .loop(loop)).closer(), loop])
      precondition(loop.state.hasEnded)
    }
  }
}
