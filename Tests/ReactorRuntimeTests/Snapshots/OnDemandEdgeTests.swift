import Glibc
import ReactorRuntime
import TestSupport
import Testing

/// Tests of states on demand where user code runs in the middle of a change or a read.
@Suite struct OnDemandEdgeTests {
  /// A part of a state.
  private final class Farewell: Sendable {
    private let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    deinit { body() }
  }

  /// Action 0 starts the stream of `source`. The end of state 1 emits mutation 3 there.
  private final class Replacing: ReactorKitReactor {
    struct State: Sendable {
      var number = 0
      var farewell: Farewell?
    }
    typealias Action = Int
    typealias Mutation = Int

    let initialState = State()
    let runtime = Runtime<Int, Int, State>(snapshots: .onDemand)
    private let source = PublishSubject<Int>()

    func mutate(action: Int) -> Observable<Int> { action == 0 ? source.asObservable() : .just(action) }

    func reduce(state: State, mutation: Int) -> State {
      State(number: mutation, farewell: mutation == 1 ? Farewell { [source] in source.onNext(3) } : nil)
    }
  }

  @Test func `what the end of an earlier state emits is reduced after the mutation that has replaced it`() {
    let (reactor, seen) = (Replacing(), Record<Int>())
    reactor.send(0)
    reactor.send(1)
    let subscription = reactor.state.subscribe(onNext: { seen.append($0.number) })
    reactor.send(2)
    #expect(seen.elements == [1, 2, 3])
    #expect(reactor.withCurrentState { $0.number } == 3)
    subscription.dispose()
  }

  /// The loop waits for the end of the read, and the read for that of the loop. The later one to wait finds that out: the loop stops the
  /// program, or the shutdown does not wait.
  @Test
  func `a loop that is shut down inside of a read for whose end it waits keeps no thread waiting for ever`()
    async
  {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.exitStatus, \.standardErrorContent]
    ) {
      let loop = try Loop()
      let reactor = Script(on: .loop(loop), snapshots: .onDemand)
      reactor.send(0)
      _ = Threads.yield { reactor.currentState == [0] }
      let hasReturned = Threads.start {
        reactor.withCurrentState { _ in
          reactor.send(1)
          loop.shutdown()
        }
      }
      if hasReturned.wait(seconds: 60) { exit(3) }
      // Both sleep: the process exits with success.
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      result?.exitStatus == .exitCode(3)
        || output.contains("threads wait for each other's states in a circle"))
  }
}
