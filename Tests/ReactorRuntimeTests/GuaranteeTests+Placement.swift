import Glibc
import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

extension GuaranteeTests {
  /// For the main loop, `MainLoopTests` runs the programs in `Tests/MainLoop`, each of which runs its main thread in a
  /// different way.
  @Test(arguments: PlacementUnderTest.allCases.filter { $0 != .caller })
  func `Work runs on the main loop, or on a loop of yours, where asked`(_ placement: PlacementUnderTest)
    throws
  {
    let stage = try Stage(placement)
    let workers = Record<pthread_t>()
    let senders = Record<pthread_t>()
    let reactor = Script(
      on: stage.placement,
      mutate: { _, action in
        workers.append(pthread_self())
        return .just(action)
      },
      reduce: { _, state, mutation in
        workers.append(pthread_self())
        state.append(mutation)
      })
    let subscription = reactor.state.subscribe(onNext: { _ in workers.append(pthread_self()) })
    #expect(
      Threads.run(4) { thread in
        senders.append(pthread_self())
        reactor.send(thread)
      })
    #expect(Threads.yield { reactor.currentState.count == 4 })
    subscription.dispose()
    #expect(Set(workers.elements).count == 1)
    #expect(Set(workers.elements).isDisjoint(with: senders.elements))
    #expect(stage.finish())
  }

  @Test
  func `Work runs on the main loop, or on a loop of yours, where asked: the main loop`() async {
    let isThere = Record<Bool>()
    let reactor = Script(
      on: .main, capacity: 512,
      mutate: { _, action in
        isThere.append(MainLoop.isCurrent)
        return .just(action)
      })
    #expect(Threads.run(4) { thread in for _ in 0..<50 { reactor.send(thread) } })
    #expect(await eventually { isThere.elements.count == 200 })
    #expect(isThere.elements.allSatisfy { $0 })
    #expect(!MainLoop.isCurrent)
  }

  private struct Broken: Error {}

  /// A reactor whose stream of action 1 fails.
  private final class Failing: Reactor {
    typealias Action = Int
    let initialState = 0
    let runtime: Runtime<Int, Int, Int>
    private let isInside: Gate
    private let mayGoOn: Gate

    init(on placement: Placement, _ failures: Record<String>, _ isInside: Gate, _ mayGoOn: Gate) {
      (self.isInside, self.mayGoOn) = (isInside, mayGoOn)
      runtime = Runtime(on: placement, capacity: 4, overflow: .fail) { failure in
        failures.append(failure.sendError.map { "\($0)" } ?? "error")
      }
    }

    func mutate(action: Int) -> Observable<Int> {
      if action == 0 {
        isInside.open()
        _ = mayGoOn.wait()
      }
      return action == 1 ? .error(Broken()) : .just(action)
    }

    func reduce(into state: inout Int, mutation: Int) { state += 1 }
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `No action is lost silently: overflow, closing and errors are reported`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let (isInside, mayGoOn) = (Gate(), Gate())
    let failures = Record<String>()
    let reactor = Failing(on: stage.placement, failures, isInside, mayGoOn)
    let isSent = Threads.start { reactor.send(0) }
    #expect(isInside.wait())
    for action in 1...10 { reactor.send(action) }
    reactor.close()
    reactor.send(11)
    mayGoOn.open()
    #expect(isSent.wait())
    #expect(reactor.waitUntilEnded(before: .now + .seconds(patience)))
    #expect(stage.finish())
    let reported = failures.elements
    #expect(reactor.currentState + reported.count == 12)
    #expect(reported.count { $0 == "error" } == 1)
    #expect(reported.count { $0 == "\(SendError.closed)" } == 1)
    #expect(reported.count { $0 == "\(SendError.full)" } >= 6)
  }
}
