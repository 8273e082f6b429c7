import TestSupport
import Testing

@testable import ReactorCore
@testable import ReactorRuntime

/// A thread that sends by a weak reference stops after `mutate` has dropped all other references to the reactor, and
/// before it ends its turn.
@Suite struct FrozenWeakSenderTests {
  /// A thread in that turn, which processes action 1.
  private struct Frozen {
    var reactor: Script?
    let runtime: Runtime<Int, Int, [Int]>
    let weakly: WeakReactor<Script>
    let mutations: Observable<Int>

    init(failures: Record<SendError> = Record()) throws {
      let reactor = Script(on: .caller, failures: failures)
      // Makes the pipeline, which such a sender comes through.
      _ = reactor.action
      reactor.send(0)
      runtime = reactor.runtime
      weakly = WeakReactor(reactor, part: runtime)
      mutations = try #require(runtime.acquireAndMutateOrSend(1, of: reactor))
      self.reactor = reactor
    }

    var state: [Int]? { runtime.state.read() }
    var isOwned: Bool { runtime.state.isBusy }

    mutating func finish() {
      #expect(isKnownUniquelyReferenced(&reactor))
      runtime.finishTurnAndRelease(with: mutations, for: 1, droppingLast: &reactor, of: weakly)
      reactor = nil
    }

    /// Calls `body` with a strong reference, on another thread.
    func upgrade(_ body: @escaping @Sendable (Script) -> Void) -> Bool {
      Threads.run(1) { [weakly] _ in _ = weakly.use { body($1) } }
    }
  }

  @Test
  func `nothing is reduced if no other thread has a reference`() throws {
    var frozen = try Frozen()
    frozen.finish()
    #expect(frozen.weakly.object == nil)
    #expect(frozen.state == [0])
    #expect(!frozen.isOwned)
  }

  /// The other thread gets its reference after this one has found its own to be the last. The test gets it before, and
  /// leaves that check out.
  @Test(arguments: ["send", "trySend", "send before", "onNext", "nothing"])
  func `an action that another thread sends by a reference of its own is reduced`(_ way: String) throws {
    var frozen = try Frozen()
    let kept = Record<Script>()
    let isSent = frozen.upgrade { reactor in
      switch way {
      case "send": reactor.send(2)
      case "trySend": try? reactor.trySend(2)
      case "send before": try? reactor.send(2, before: .now + .seconds(patience))
      case "onNext": reactor.action.onNext(2)
      default: break
      }
      kept.append(reactor)
    }
    #expect(isSent)
    frozen.runtime.finishTurnAndRelease(
      with: frozen.mutations, for: 1, droppingLast: &frozen.reactor, of: frozen.weakly)
    #expect(kept.elements.first?.currentState == (way == "nothing" ? [0, 1] : [0, 1, 2]))
  }

  @Test
  func `an observer that another thread adds and a close of another thread are not forgotten`() throws {
    var frozen = try Frozen()
    let kept = Record<Script>()
    let seen = Record<[Int]>()
    let isSent = frozen.upgrade { reactor in
      kept.append(reactor)
      reactor.state.subscribe(onNext: { seen.append($0) })
      reactor.close()
    }
    #expect(isSent)
    frozen.runtime.finishTurnAndRelease(
      with: frozen.mutations, for: 1, droppingLast: &frozen.reactor, of: frozen.weakly)
    #expect(seen.elements.last == [0, 1])
    #expect(kept.elements.first?.waitUntilEnded(before: .now + .seconds(20)) == true)
  }

  @Test
  func `an action that another thread sends before it drops its reference is reported`() throws {
    let failures = Record<SendError>()
    do {
      var frozen = try Frozen(failures: failures)
      #expect(frozen.upgrade { $0.send(2) })
      frozen.finish()
      #expect(frozen.weakly.object == nil)
      #expect(frozen.state == [0])
    }
    #expect(failures.elements == [.closed])
  }
}
