import ReactorCore
import TestSupport
import Testing

@testable import ReactorRuntime

/// Tasks that wait for the end of a reactor.
@Suite struct EndWaitTests {
  private static let late = Duration.seconds(patience)

  @Test
  func `a task waits for the end until its deadline`() async {
    let reactor = Script(on: .caller)
    #expect(await reactor.suspendUntilEnded(before: .now + .milliseconds(5)) == false)
    #expect(waiting(for: reactor) == 0)
    let hasEnded = Task { await reactor.suspendUntilEnded(before: .now + Self.late) }
    #expect(await eventually { waiting(for: reactor) == 1 })
    reactor.close()
    #expect(await hasEnded.value)
    #expect(await reactor.suspendUntilEnded(before: .now))
  }

  @Test
  func `a task that is cancelled does not wait for the end any more`() async {
    let reactor = Script(on: .caller)
    let began = ContinuousClock.now
    let hasEnded = Task { await reactor.suspendUntilEnded(before: began + Self.late) }
    #expect(await eventually { waiting(for: reactor) == 1 })
    hasEnded.cancel()
    #expect(await hasEnded.value == false)
    #expect(.now - began < Self.late)
    #expect(waiting(for: reactor) == 0)
    reactor.close()
    #expect(await reactor.suspendUntilEnded(before: .now))
  }

  private func waiting(for reactor: Script) -> Int? {
    reactor.runtime.ensureTermination().actions.withLock { $0?.count }
  }
}

/// A thread that has scheduled a reactor whose loop is closing, and so discards what the reactor holds.
@Suite struct RefusedScheduleTests {
  private final class Farewell: Sendable {
    private let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    deinit { body() }
  }

  /// The loop's thread counts there what it sends to the reactor from its turns, until it has run the last one.
  @Test
  func `it leaves the list of turn ends alone that the loop uses`() throws {
    let loop = try Loop()
    let reactor = Streamed(on: .loop(loop), mutate: { _, _ in .empty() })
    let runtime = reactor.runtime
    let (isThere, hasEnded, usesList) = (Gate(), Gate(), Record<Bool>())
    let subscription = observe(reactor, isThere) {
      TurnEndAction { hasEnded.open() }.runAfterTurn()
      usesList.append(runtime.mailbox.turnEnds.isRequested)
    }
    #expect(isThere.wait())
    #expect(Threads.yield { !runtime.state.isBusy })
    let mayGoOn = try loop.hold()
    loop.beginClosing()
    subscription.dispose()
    // As a thread does that has read the state, or whose step was refused.
    runtime.requestSweep(of: reactor)
    #expect(usesList.elements == [false])
    #expect(hasEnded.isOpen)
    mayGoOn.open()
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  /// Observes `state` until the subscription is disposed of; calls `onRelease` when the observer is released.
  private func observe(
    _ reactor: Streamed, _ isThere: Gate, onRelease: @escaping @Sendable () -> Void
  ) -> any Disposable {
    let farewell = Farewell(onRelease)
    return reactor.state.subscribe(onNext: { _ in withExtendedLifetime(farewell) { isThere.open() } })
  }
}
