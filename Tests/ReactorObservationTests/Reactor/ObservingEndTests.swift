#if ObservationMacros
  import Observation
  import ReactorObservation
  import ReactorRuntime
  import ReactorTesting
  import Synchronization
  import TestSupport
  import Testing

  /// What Observation keeps of the runs of a ``ReactorObserving``.
  ///
  /// Observation does not tell what is registered. But a registration refers to the key paths of what was read, and a key path to
  /// what its subscripts are called with: here an object that is counted.
  @Suite struct ObservingEndTests {
    final class Probe: Observation.Observable, Sendable {
      private let registrar = ObservationRegistrar()
      private let lifetimes = Lifetimes()

      /// How many reads are registered, of those whose property never changes.
      var registered: Int { lifetimes.alive }

      private subscript(mark: Mark) -> Int { mark.tracked.value }

      /// Reads a property that nothing else reads, and that never changes.
      func read() {
        let mark = Mark(tracked: lifetimes.track())
        registrar.access(self, keyPath: \.[mark])
      }
    }

    struct Mark: Hashable, Sendable {
      let tracked: LifetimeTracked

      static func == (left: Self, right: Self) -> Bool { left.tracked === right.tracked }

      func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(tracked)) }
    }

    let loop: SteppedLoop
    let observed: ObservedReactor<Profiles>
    let seen = Record<Int>()
    let probe = Probe()

    init() throws {
      loop = try SteppedLoop()
      observed = ObservedReactor(reactor: Profiles(), on: loop.observation)
    }

    private func observe(_ body: @escaping @Sendable () -> Void = {}) -> ReactorObserving {
      ReactorObserving(on: loop.observation) { [observed, seen, probe] in
        probe.read()
        seen.append(observed.count)
        body()
      }
    }

    private func run() { for _ in 0..<3 { loop.step() } }

    @Test func `each run takes away what the run before it has registered`() {
      let scope = observe()
      run()
      for _ in 1...5 {
        observed.send(.increase)
        run()
        #expect(probe.registered == 1)
      }
      #expect(seen.elements == [0, 1, 2, 3, 4, 5])
      scope.dispose()
    }

    @Test func `after it is disposed of nothing is registered`() {
      let scopes = (0..<10).map { _ in observe() }
      run()
      #expect(probe.registered == 10)
      for scope in scopes { scope.dispose() }
      #expect(probe.registered == 0)
      observed.send(.increase)
      run()
      #expect(seen.elements.count == 10)
    }

    @Test func `after the last reference is gone nothing is registered`() {
      do {
        let scope = observe()
        run()
        withExtendedLifetime(scope) { #expect(probe.registered == 1) }
      }
      #expect(probe.registered == 0)
    }

    @Test func `one that ends before it has run registers nothing`() {
      observe().dispose()
      run()
      #expect(probe.registered == 0)
      #expect(seen.elements.isEmpty)
    }

    @Test func `one that is disposed of in the middle of a run registers nothing`() {
      let scopes = Record<ReactorObserving>()
      scopes.append(observe { scopes.elements.first?.dispose() })
      run()
      #expect(seen.elements == [0])
      #expect(probe.registered == 0)
      observed.send(.increase)
      run()
      #expect(seen.elements == [0])
    }

    @Test func `one that another thread disposes of in the middle of a run registers nothing`() throws {
      let thread = try Loop(name: "observes")
      defer { thread.shutdown() }
      let (begun, ended) = (Gate(), Gate())
      let scope = ReactorObserving(on: .loop(thread)) { [observed, probe] in
        probe.read()
        _ = observed.count
        begun.open()
        _ = ended.wait()
        _ = observed.name
      }
      #expect(begun.wait())
      scope.dispose()
      ended.open()
      #expect(Threads.yield { probe.registered == 0 })
    }

    @Test func `one that begins and ends in a run of another one registers nothing when that has run again`()
    {
      let scope = observe { [loop, probe] in
        let inner = ReactorObserving(on: loop.observation) { probe.read() }
        inner.dispose()
      }
      run()
      // What the inner one has read belongs to the outer one, too.
      #expect(seen.elements == [0])
      for count in 1...5 {
        observed.send(.increase)
        run()
        #expect(seen.elements.count == count + 1)
        #expect(probe.registered == 2, "one of the newest run, and one of the inner one's")
      }
      scope.dispose()
      #expect(probe.registered == 0)
    }

    @Test func `the end of one that began in a run of another one is no change for that`() {
      let inner = Record<ReactorObserving>()
      let scope = observe { [loop, observed, probe] in
        guard inner.elements.isEmpty else { return }
        inner.append(
          ReactorObserving(on: loop.observation) {
            probe.read()
            _ = observed.name
          })
      }
      run()
      observed.send(.setName("a"))
      run()
      #expect(seen.elements == [0, 0], "what the inner one has read belongs to both")
      observed.send(.setName("b"))
      run()
      inner.elements[0].dispose()
      run()
      #expect(seen.elements == [0, 0])
      #expect(probe.registered == 1)
      scope.dispose()
      #expect(probe.registered == 0)
    }

    @Test func `the end of one that began in a run of another one, and has not run again, is no change`() {
      let inner = Record<ReactorObserving>()
      let scope = observe { [loop, probe] in
        if inner.elements.isEmpty {
          inner.append(ReactorObserving(on: loop.observation) { probe.read() })
        }
      }
      run()
      inner.elements[0].dispose()
      run()
      #expect(seen.elements == [0])
      observed.send(.increase)
      run()
      #expect(seen.elements == [0, 1])
      #expect(probe.registered == 1, "the outer one does not read the inner one again")
      scope.dispose()
      #expect(probe.registered == 0)
    }

    @Test func `a change that comes while a run is being registered leaves nothing registered`() throws {
      let loops = try ["shows", "observes"].map { try Loop(name: $0) }
      defer { for loop in loops { loop.shutdown() } }
      let observed = ObservedReactor(reactor: Profiles(), on: .loop(loops[0]))
      // Of many objects, so that to register them takes long.
      let probes = (0..<64).map { _ in Probe() }
      let runs = Atomic(0)
      let scope = ReactorObserving(on: .loop(loops[1])) {
        _ = observed.count
        for probe in probes { probe.read() }
        runs.add(1, ordering: .relaxed)
      }
      let hasRun = Threads.yield {
        observed.send(.increase)
        return runs.load(ordering: .relaxed) >= 5_000
      }
      #expect(hasRun)
      scope.dispose()
      #expect(Threads.yield { probes.allSatisfy { $0.registered == 0 } })
    }

    @Test func `a run may read any number of reactors, and runs again only for a change of one of them`() {
      let all = (0..<200).map { _ in ObservedReactor(reactor: Profiles(), on: loop.observation) }
      let scope = ReactorObserving(on: loop.observation) { [seen] in
        seen.append(all.reduce(0) { $0 + $1.count })
      }
      for _ in 0..<5 { loop.step() }
      #expect(seen.elements == [0])
      all[150].send(.increase)
      for _ in 0..<5 { loop.step() }
      #expect(seen.elements == [0, 1])
      scope.dispose()
    }

    @Test func `a run that reads more states than are kept leads to one more, and leaves nothing registered`()
      throws
    {
      let other = try SteppedLoop()
      let scope = ReactorObserving(on: other.observation) { [observed, seen, probe, loop] in
        probe.read()
        seen.append(observed.count)
        guard seen.elements.count <= 3 else { return }
        for number in 0..<100 {
          observed.send(.setName("\(seen.elements.count).\(number)"))
          loop.step()
          _ = observed.isLoading
        }
      }
      for _ in 0..<9 { other.step() }
      #expect(seen.elements == [0, 0, 0, 0])
      #expect(probe.registered == 1)
      scope.dispose()
      #expect(probe.registered == 0)
    }
  }
#endif
