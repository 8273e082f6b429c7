#if ObservationMacros
  import Dispatch
  import Glibc
  import Observation
  import ReactorKitCompatibility
  import ReactorObservation
  import ReactorTesting
  import TestSupport
  import Testing

  /// Mutations that come from other threads, and what readers see of them.
  @Suite struct ThreadHopTests {
    /// Loads on a queue of the system, and goes on on the main queue.
    final class Loading: Reactor {
      enum Action: Sendable { case load }
      enum Mutation: Sendable {
        case begin
        case end
      }

      @ObservableState struct State: Sendable {
        var count = 0
        var isLoading = false
      }

      let initialState = State()

      func mutate(action: Action) -> Observable<Mutation> {
        .concat([
          .just(.begin),
          Observable<Void>.create { observer in
            observer.onNext(())
            observer.onCompleted()
            return Disposables.create()
          }
          .subscribe(on: SerialDispatchQueueScheduler(qos: .userInitiated))
          .observe(on: MainScheduler.instance)
          .flatMap { _ in Observable<Mutation>.empty() },
          .just(.end),
        ])
      }

      func reduce(state: State, mutation: Mutation) -> State {
        var state = state
        switch mutation {
        case .begin: state.isLoading = true
        case .end:
          state.count += 1
          state.isLoading = false
        }
        return state
      }
    }

    @Test @MainActor func `a run on the main actor reads the state after a hop between threads`() async {
      let observed = ObservedReactor(reactor: Loading())
      let seen = Record<String>()
      let scope = ReactorObserving { [observed] in seen.append("\(observed.count) \(observed.isLoading)") }
      for number in 1...5 {
        observed.send(.load)
        #expect(await eventually { seen.elements.last == "\(number) false" })
      }
      // Some of these, in this order: a run that comes late reads what is newest.
      var left = (["0 false"] + (0..<5).flatMap { ["\($0) true", "\($0 + 1) false"] })[...]
      for text in seen.elements {
        left = left.drop { $0 != text }
        #expect(left.popFirst() == text, "\(seen.elements)")
      }
      scope.dispose()
    }

    @Test func `a run on another loop tells the other readers on the loop that shows the state`() throws {
      let loop = try SteppedLoop()
      let worker = try Loop(name: "observes")
      defer { worker.shutdown() }
      let observed = ObservedReactor(reactor: Profiles(), on: loop.observation)
      let (hasRead, isShown) = (Gate(), Gate())
      let runs = Record<Int>()
      let scope = ReactorObserving(on: .loop(worker)) {
        runs.append(observed.count)
        hasRead.open()
        _ = isShown.wait()
      }
      #expect(hasRead.wait())
      observed.send(.increase)
      loop.step()
      // Begins to read after that, so that only the end of the run can tell it.
      let threads = Record<UInt>()
      withObservationTracking {
        _ = observed.count
      } onChange: {
        threads.append(UInt(pthread_self()))
      }
      isShown.open()
      #expect(
        Threads.yield {
          loop.step()
          return runs.elements.last == 1
        })
      #expect(threads.elements == [UInt(pthread_self())])
      scope.dispose()
    }

    @Test func `a run is told of a change in its middle although the loop has ended`() throws {
      let shows = try Loop(name: "shows")
      let worker = try Loop(name: "observes")
      defer { worker.shutdown() }
      let observed = ObservedReactor(reactor: Profiles(), on: .loop(shows))
      let (hasRead, hasEnded) = (Gate(), Gate())
      let runs = Record<Int>()
      let scope = ReactorObserving(on: .loop(worker)) {
        runs.append(observed.count)
        hasRead.open()
        _ = hasEnded.wait()
      }
      #expect(hasRead.wait())
      observed.send(.increase)
      #expect(Threads.yield { observed.count == 1 })
      shows.shutdown()
      hasEnded.open()
      #expect(Threads.yield { runs.elements == [0, 1] })
      scope.dispose()
    }

    @Test func `changes of two threads to what one reader has read are announced`() throws {
      for _ in 0..<20 {
        let loops = [try SteppedLoop(), try SteppedLoop()]
        let observed = loops.map { ObservedReactor(reactor: Profiles(), on: $0.observation) }
        for loop in loops { loop.step() }
        let reader = Tracking { for each in observed { _ = each.count } }
        #expect(
          Threads.run(2) { index in
            observed[index].send(.increase)
            loops[index].step()
          })
        #expect(observed.map(\.count) == [1, 1])
        // Observation calls the closure once for each, if they come at the same moment.
        #expect((1...2).contains(reader.count))
      }
    }
  }
#endif
