#if ObservationMacros
  import Observation
  import ReactorCore
  import ReactorObservation
  import ReactorRuntime
  import ReactorTesting
  import Synchronization
  import TestSupport
  import Testing

  /// When a state is shown, and on which thread.
  @Suite struct TurnTests {
    @Test func `a turn on the loop itself shows its state before the next turn`() throws {
      let loop = try SteppedLoop()
      let reactor = Profiles(on: loop.placement)
      let observed = ObservedReactor(reactor: reactor, on: loop.observation)
      loop.run()
      reactor.send(.increase)
      loop.step()
      #expect(observed.count == 1)
    }

    /// A reactor whose action becomes several mutations.
    final class Burst: Reactor {
      @ObservableState struct State: Sendable {
        var count = 0
      }
      typealias Mutation = Void
      let initialState = State()
      let runtime: Runtime<Int, Void, State>

      init(on placement: Placement) { runtime = Runtime(on: placement) }

      func mutate(action: Int) -> Observable<Void> { .concat((0..<action).map { _ in .just(()) }) }

      func reduce(into state: inout State, mutation: Void) { state.count += 1 }
    }

    @Test func `a turn of many mutations shows one state`() throws {
      let loop = try SteppedLoop()
      for placement in [Placement.caller, loop.placement] {
        let reactor = Burst(on: placement)
        let observed = ObservedReactor(reactor: reactor, on: loop.observation)
        loop.run()
        let seen = Record<Int>()
        let scope = Repeated({ observed.count }, seen)
        scope.begin()
        reactor.send(100)
        loop.run()
        loop.step()
        #expect(seen.elements == [0, 100])
      }
    }

    /// Appends a value, and again whenever it is announced: without a loop in between.
    final class Repeated: Sendable {
      private let read: @Sendable () -> Int
      private let record: Record<Int>

      init(_ read: @escaping @Sendable () -> Int, _ record: Record<Int>) {
        self.read = read
        self.record = record
      }

      func begin() {
        withObservationTracking {
          record.append(read())
        } onChange: {
          self.begin()
        }
      }
    }

    @Test func `observers are called on the loop that was given`() throws {
      let loop = try Loop(name: "observers")
      defer { loop.shutdown() }
      let reactor = Profiles()
      let observed = ObservedReactor(reactor: reactor, on: .loop(loop))
      let announced = Gate()
      let isOnLoop = Atomic(false)
      withObservationTracking {
        _ = observed.count
      } onChange: {
        isOnLoop.store(loop.isCurrent, ordering: .sequentiallyConsistent)
        announced.open()
      }
      reactor.send(.increase)
      #expect(announced.wait())
      let wasOnLoop = isOnLoop.load(ordering: .sequentiallyConsistent)
      #expect(wasOnLoop)
    }

    @Test func `a loop that is full shows the state later`() async throws {
      let loop = try Loop(name: "full", jobCapacity: 1)
      defer { loop.shutdown() }
      let observed = ObservedReactor(reactor: Profiles(), on: .loop(loop))
      #expect(Threads.yield { (try? loop.execute {}) != nil })
      let blocked = Gate()
      #expect(Threads.yield { (try? loop.execute { _ = blocked.wait() }) != nil })
      observed.send(.increase)
      #expect(throws: LoopError.full) { try loop.execute {} }
      #expect(observed.count == 0)
      blocked.open()
      // Gives the thread back meanwhile: with one processor, no other runs what tries again.
      #expect(await eventually { observed.count == 1 })
    }

    @Test @MainActor func `on the main actor a send shows its state before it returns`() {
      let observed = ObservedReactor(reactor: Profiles())
      let tracking = Tracking { _ = observed.count }
      observed.send(.increase)
      #expect(observed.count == 1)
      #expect(tracking.isAnnounced)
    }

    @Test func `a send on another thread is shown on the main actor`() async {
      let observed = ObservedReactor(reactor: Profiles())
      await withCheckedContinuation { continuation in
        withObservationTracking {
          _ = observed.count
        } onChange: {
          MainActor.assumeIsolated { continuation.resume() }
        }
        _ = Threads.start { observed.send(.increase) }
      }
      #expect(observed.count == 1)
    }

    @Test func `Observations delivers values in order, and the newest one with the next change`() async {
      let observed = ObservedReactor(reactor: Profiles())
      let newest = Latest()
      let reader = Task {
        var last = -1
        for await count in Observations({ observed.count }) {
          #expect(count >= last)
          last = count
          newest.value.store(count, ordering: .sequentiallyConsistent)
          if count >= 1_000 { break }
        }
        return last
      }
      // A change that comes while `Observations` reads may be delivered with the next one only. So changes come until the end.
      // Each turn of a task may take seconds beside all other tests.
      let deadline = ContinuousClock.now + .seconds(300)
      var sent = 0
      while newest.value.load(ordering: .sequentiallyConsistent) < 1_000, ContinuousClock.now < deadline {
        observed.send(.increase)
        sent += 1
        if sent > 1_000 {
          try? await Task.sleep(for: .milliseconds(1))
        } else if sent % 250 == 0 {
          await Task.yield()
        }
      }
      reader.cancel()
      let last = await reader.value
      #expect(last >= 1_000)
    }

    /// What a reader has read last.
    final class Latest: Sendable {
      let value = Atomic(-1)
    }

    @Test func `no change is missed by readers on other loops`() throws {
      let loops = try ["shows", "reads 1", "reads 2"].map { try Loop(name: $0) }
      defer { for loop in loops { loop.shutdown() } }
      let reactor = Burst(on: .caller)
      let observed = ObservedReactor(reactor: reactor, on: .loop(loops[0]))
      let readers = loops.dropFirst().map { loop in
        let latest = Latest()
        let scope = ReactorObserving(on: .loop(loop)) {
          let count = observed.count
          // Time for another change, before what was read is observed.
          for _ in 0..<10 { DedicatedThread.yield() }
          latest.value.store(count, ordering: .sequentiallyConsistent)
        }
        return (latest, scope)
      }
      for round in 1...1_000 {
        // The second change often comes while a reader reads the first one. No later change reaches a reader that misses it.
        reactor.send(1)
        reactor.send(1)
        for (latest, _) in readers {
          let isSeen = Threads.yield(seconds: 30) {
            latest.value.load(ordering: .sequentiallyConsistent) == 2 * round
          }
          try #require(isSeen)
        }
      }
      for (_, scope) in readers { scope.dispose() }
    }
  }
#endif
