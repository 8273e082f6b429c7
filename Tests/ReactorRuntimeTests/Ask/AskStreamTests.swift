import ReactorCore
import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

/// Requests whose action's stream fails, or never ends.
@Suite struct AskStreamTests {
  /// Does with each request what its action says, and uses no reply.
  final class Streaming: Reactor {
    enum Action: Sendable {
      case fail(Reply<Int>)
      /// The stream fails outside of the turn, when the subject does.
      case failLater(Reply<Int>)
      case neverEnd(Reply<Int>)
    }

    let initialState = 0
    let runtime: Runtime<Action, Int, Int>
    let source = PublishSubject<Int>()

    init(on placement: Placement, onFailure: @escaping @Sendable (Failure) -> Void = { _ in }) {
      runtime = Runtime(on: placement, onFailure: onFailure)
    }

    func mutate(action: Action) -> Observable<Int> {
      switch action {
      case .fail: .error(TestError())
      case .failLater: source.asObservable()
      case .neverEnd: .never()
      }
    }

    func reduce(into state: inout Int, mutation: Int) { state += mutation }
  }

  private struct TestError: Error {}

  private func name(of result: Result<Int, AskError>) -> String {
    switch result {
    case .success(let value): "\(value)"
    case .failure(.dropped): "dropped"
    case .failure(.closed): "closed"
    case .failure(.timedOut): "timedOut"
    case .failure(let error): "\(error)"
    }
  }

  /// Asks in both forms, and returns a list to which the results are added.
  private func ask(
    _ reactor: Streaming, before deadline: ContinuousClock.Instant? = nil,
    _ action: @escaping @Sendable (Reply<Int>) -> Streaming.Action
  ) -> Record<String> {
    let results = Record<String>()
    reactor.ask(action, before: deadline, completion: { results.append(name(of: $0)) })
    Task {
      do throws(AskError) {
        results.append("\(try await reactor.ask(before: deadline, action))")
      } catch { results.append(name(of: .failure(error))) }
    }
    return results
  }

  private func expect(_ results: Record<String>, _ name: String) async {
    #expect(await eventually { results.elements.count == 2 })
    #expect(results.elements == [name, name])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `a request whose stream fails at once is dropped`(_ placement: PlacementUnderTest) async throws {
    let stage = try Stage(placement)
    let failures = Record<String>()
    let reactor = Streaming(on: stage.placement, onFailure: { failures.append("\($0.cause)") })
    await expect(ask(reactor) { .fail($0) }, "dropped")
    #expect(failures.elements.count == 2)
    #expect(stage.finish())
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `a request whose stream fails later is dropped then`(_ placement: PlacementUnderTest) async throws {
    let stage = try Stage(placement)
    let reactor = Streaming(on: stage.placement)
    let results = ask(reactor) { .failLater($0) }
    #expect(await eventually { reactor.counters.processed == 2 })
    #expect(results.elements == [])
    reactor.source.onError(TestError())
    await expect(results, "dropped")
    #expect(stage.finish())
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `a failure handler that keeps the failure keeps the asker waiting`(_ placement: PlacementUnderTest)
    async throws
  {
    let stage = try Stage(placement)
    let kept = SystemMutex<[Failure]>([])
    let reactor = Streaming(
      on: stage.placement, onFailure: { failure in kept.withLock { $0.append(failure) } })
    let results = ask(reactor) { .fail($0) }
    #expect(await eventually { kept.withLock { $0.count } == 2 })
    #expect(results.elements == [])
    kept.withLock { $0 = [] }
    await expect(results, "dropped")
    #expect(stage.finish())
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `a kept failure does not outlast the deadline of the asker`(_ placement: PlacementUnderTest)
    async throws
  {
    let stage = try Stage(placement)
    let kept = Record<Failure>()
    let reactor = Streaming(on: stage.placement, onFailure: { kept.append($0) })
    await expect(ask(reactor, before: .now + .milliseconds(20)) { .fail($0) }, "timedOut")
    #expect(stage.finish())
  }

  @Test(arguments: PlacementUnderTest.allCases, [Closing.drain, .discard])
  func `a request whose stream never ends waits until the reactor is closed`(
    _ placement: PlacementUnderTest, _ closing: Closing
  ) async throws {
    let stage = try Stage(placement)
    let reactor = Streaming(on: stage.placement)
    await expect(ask(reactor, before: .now + .milliseconds(20)) { .neverEnd($0) }, "timedOut")
    let results = ask(reactor) { .neverEnd($0) }
    #expect(await eventually { reactor.counters.processed == 4 })
    #expect(results.elements == [])
    reactor.close(closing)
    await expect(results, "closed")
    #expect(stage.finish())
  }
}
