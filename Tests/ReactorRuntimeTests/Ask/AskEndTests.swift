import ReactorCore
import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

/// Requests of a reactor that ends: its last replies leave first, and those that it keeps can be failed.
@Suite struct AskEndTests {
  private static let soon = Duration.seconds(patience)

  @Test func `a reactor has ended when the replies of its last turn have left`() throws {
    let loop = try Loop()
    let account = BankAccount(on: .loop(loop))
    let (isHeld, mayGoOn, isLeaving, mayLeave) = (Gate(), Gate(), Gate(), Gate())
    let second = Record<Int>()
    try loop.execute {
      isHeld.open()
      _ = mayGoOn.wait()
    }
    #expect(isHeld.wait())
    account.ask {
      .balance($0)
    } completion: { _ in
      isLeaving.open()
      _ = mayLeave.wait()
    }
    account.ask {
      .balance($0)
    } completion: { _ in
      second.append(1)
    }
    account.close()
    mayGoOn.open()
    #expect(isLeaving.wait())
    #expect(!account.waitUntilEnded(before: .now + .milliseconds(10)))
    mayLeave.open()
    #expect(account.waitUntilEnded(before: .now + Self.soon))
    #expect(second.elements == [1])
    loop.shutdown()
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `a reactor that ends fails the replies that its state keeps`(_ placement: PlacementUnderTest)
    async throws
  {
    let stage = try Stage(placement)
    let (desk, log) = (Desk(on: stage.placement), Record<String>())
    for _ in 0..<2 {
      desk.ask {
        $0
      } completion: { result in
        log.append(Self.name(of: result))
      }
    }
    desk.close()
    await desk.waitUntilEnded()
    #expect(log.elements == ["left", "left"])
    desk.close(.discard)
    #expect(desk.ends.elements == [2])
    #expect(stage.finish())
  }

  @Test(arguments: [Closing.drain, .discard])
  func `a task that waits for a kept reply goes on when the reactor ends`(_ closing: Closing) async {
    let (desk, log) = (Desk(), Record<String>())
    let task = Task {
      do throws(AskError) {
        log.append("\(try await desk.ask { $0 })")
      } catch { log.append(Self.name(of: .failure(error))) }
    }
    #expect(await eventually { desk.withCurrentState { !$0.isEmpty } })
    desk.close(closing)
    #expect(await eventually { log.elements == ["left"] })
    task.cancel()
  }

  @Test func `a reactor whose loop was shut down fails what it keeps when it is closed`() throws {
    let (loop, log) = (try SteppedLoop(), Record<String>())
    weak var gone: Desk?
    do {
      let desk = Desk(on: loop.placement)
      gone = desk
      desk.ask {
        $0
      } completion: { result in
        log.append(Self.name(of: result))
      }
      #expect(loop.run())
      loop.shutdown()
      #expect(log.elements == [])
      desk.close()
      #expect(log.elements == ["left"])
    }
    // Nothing keeps it because of its end.
    #expect(gone == nil)
  }

  @Test func `a completion that closes another reactor and waits for its end does not wait for itself`() {
    let (account, desk, log) = (BankAccount(), Desk(), Record<String>())
    desk.ask {
      $0
    } completion: { result in
      log.append(Self.name(of: result))
    }
    account.ask {
      .balance($0)
    } completion: { _ in
      desk.close()
      // The reply of the desk leaves behind this completion.
      log.append(desk.waitUntilEnded(before: .now + Self.soon) ? "ended" : "gave up")
    }
    #expect(log.elements == ["ended", "left"])
    #expect(desk.waitUntilEnded(before: .now + Self.soon))
  }

  @Test func `a loop's end inside of another reactor's turn lets kept replies leave behind that`() throws {
    let (loop, account, log) = (try SteppedLoop(), BankAccount(), Record<String>())
    let desk = Desk(on: loop.placement)
    desk.ask {
      $0
    } completion: { result in
      log.append(Self.name(of: result))
    }
    #expect(loop.run())
    loop.shutdown()
    account.ask {
      .balance($0)
    } completion: { _ in
      desk.close()
      // For other threads it has not ended before that reply has left.
      _ = Threads.run(1) { _ in
        log.append(desk.waitUntilEnded(before: .now + .milliseconds(10)) ? "too early" : "not yet")
      }
    }
    #expect(log.elements == ["not yet", "left"])
    #expect(desk.waitUntilEnded(before: .now + Self.soon))
  }

  @Test func `a task whose reply is dropped after the loop was shut down finds the reactor closed`()
    async throws
  {
    let (loop, kept) = (try Loop(), SystemMutex<Reply<Int>?>(nil))
    let reactor = Scripted(on: .loop(loop))
    let isClosed = Task {
      do throws(AskError) {
        _ = try await reactor.ask { reply in
          Scripted.Action(mutate: { kept.withLock { $0 = reply } })
        }
        return false
      } catch {
        if case .closed = error { return true }
        return false
      }
    }
    #expect(await eventually { kept.withLock { $0 != nil } })
    #expect(Threads.start { loop.shutdown() }.wait())
    // The last reference, since the action is gone.
    _ = kept.withLock { $0.take() }
    #expect(await isClosed.value)
  }

  private static func name(of result: Result<Int, AskError>) -> String {
    switch result {
    case .success(let value): "\(value)"
    case .failure(.failed(is Desk.Left)): "left"
    case .failure(let error): "\(error)"
    }
  }
}

/// Keeps all replies in its state.
private final class Desk: EndObserving {
  struct Left: Error {}

  let initialState: [Reply<Int>] = []
  let runtime: Runtime<Reply<Int>, Reply<Int>, [Reply<Int>]>
  let ends = Record<Int>()

  init(on placement: Placement = .caller) { runtime = Runtime(on: placement) }

  func reduce(into state: inout [Reply<Int>], mutation: Reply<Int>) { state.append(mutation) }

  func willEnd(_ state: borrowing [Reply<Int>]) {
    ends.append(state.count)
    for index in state.indices { state[index].fail(Left()) }
  }
}
