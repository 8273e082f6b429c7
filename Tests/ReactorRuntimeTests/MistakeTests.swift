import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

/// Mistakes at which each build stops the program, with a message.
@Suite struct MistakeTests {
  /// A number, which an exit test can capture.
  private enum Limit: Int, CaseIterable {
    case keyedReactors, waitingCapacity, reentrantCapacity, resolution, oldestValues, newestValues
    case oldestThrowingValues, retry, concurrentStreams, takeLast, share, replay, replayRelay, replaySubject

    /// Uses the smallest number that means something here, or one that differs from it.
    func use(_ difference: Int) {
      let (fromOne, fromZero) = (1 + difference, difference)
      switch self {
      case .keyedReactors: _ = KeyedReactors<Int, Script>(upTo: fromOne, make: { _ in Script(on: .caller) })
      case .waitingCapacity:
        _ = KeyedReactors<Int, Script>(waitingCapacity: fromOne, make: { _ in Script(on: .caller) })
      case .reentrantCapacity: _ = Runtime<Int, Int, Int>(reentrantCapacity: fromOne)
      case .resolution: _ = KeyedTimers<Int, Int>(resolution: .microseconds(fromOne)) { $0 }
      case .oldestValues: _ = Observable.just(1).values(buffering: .oldest(fromOne))
      case .newestValues: _ = Observable.just(1).values(buffering: .newest(fromOne))
      case .oldestThrowingValues: _ = Observable.just(1).throwingValues(buffering: .oldest(fromOne))
      case .retry: _ = Single.just(1).retry(fromOne)
      case .concurrentStreams: _ = Observable.of(Observable.just(1)).merge(maxConcurrent: fromOne)
      case .takeLast: _ = Observable.just(1).takeLast(fromZero)
      case .share: _ = Observable.just(1).share(replay: fromZero, scope: .forever)
      case .replay: _ = Observable.just(1).replay(fromZero)
      case .replayRelay: _ = ReplayRelay<Int>.create(bufferSize: fromZero)
      case .replaySubject: _ = ReplaySubject<Int>.create(bufferSize: fromZero)
      }
    }

    /// A part of the message.
    var message: String {
      switch self {
      case .keyedReactors: "the limit is 0"
      case .waitingCapacity: "waitingCapacity is 0"
      case .reentrantCapacity: "reentrantCapacity is 0"
      case .resolution: "the resolution of timers is 0"
      case .oldestValues, .newestValues, .oldestThrowingValues: "needs room for at least one element"
      case .retry: "at least one attempt"
      case .concurrentStreams: "at least one stream must be allowed to run"
      case .takeLast: "no negative number of elements can be taken"
      case .share, .replay: "no negative number of elements can be replayed"
      case .replayRelay: "a replay relay keeps no negative number of elements"
      case .replaySubject: "a replay subject keeps no negative number of elements"
      }
    }
  }

  @Test(arguments: Limit.allCases)
  private func `a number that means nothing stops the program`(_ limit: Limit) async {
    let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [number = limit.rawValue as Int] in
      Limit(rawValue: number)?.use(-1)
    }
    #expect(stop?.standardErrorContent.says(limit.message) == true)
  }

  @Test(arguments: Limit.allCases)
  private func `the smallest number that means something is accepted`(_ limit: Limit) { limit.use(0) }

  @Test func `a disposable that takes one part stops the program at the second one`() async {
    let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let disposable = SingleAssignmentDisposable()
      disposable.setDisposable(Disposables.create())
      disposable.setDisposable(Disposables.create())
    }
    #expect(stop?.standardErrorContent.says("was assigned twice") == true)
  }

  @Test func `a loop without a thread that is shut down from inside itself stops the program`() async {
    let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let hosted = try HostedLoop()
      try hosted.loop.execute { hosted.shutdown() }
      hosted.run()
    }
    #expect(stop?.standardErrorContent.says("was shut down from inside one of its own turns") == true)
  }

  @Test func `a loop that is stepped from inside itself stops the program`() async {
    let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let loop = try SteppedLoop()
      let reactor = Script(
        on: loop.placement,
        mutate: { _, action in
          loop.step()
          return .just(action)
        })
      reactor.send(1)
      loop.step()
    }
    #expect(stop?.standardErrorContent.says("was stepped from inside one of its own turns") == true)
  }
}
