#if ObservationMacros
  import ReactorObservation
  import ReactorRuntime
  import ReactorTesting
  import TestSupport
  import Testing

  @Suite struct ReactorObservingTests {
    let loop: SteppedLoop
    let observed: ObservedReactor<Profiles>
    let seen = Record<Int>()

    init() throws {
      loop = try SteppedLoop()
      observed = ObservedReactor(reactor: Profiles(), on: loop.observation)
    }

    /// Steps another loop, and the one that announces, until nothing is left to do.
    private func step(_ other: SteppedLoop) {
      for _ in 0..<3 {
        other.step()
        loop.step()
      }
    }

    @Test func `it runs once, and again when what it has read changes`() {
      let scope = ReactorObserving(on: loop.observation) { [observed, seen] in seen.append(observed.count) }
      #expect(seen.elements.isEmpty, "it runs on the loop")
      run()
      observed.send(.increase)
      run()
      observed.send(.setName("a"))
      run()
      observed.send(.increase)
      run()
      #expect(seen.elements == [0, 1, 2])
      scope.dispose()
    }

    @Test func `changes that come together lead to one run`() {
      let scope = ReactorObserving(on: loop.observation) { [observed, seen] in
        seen.append(observed.count)
        _ = (observed.name, observed.isLoading)
      }
      run()
      for _ in 0..<10 { observed.send(.increase) }
      observed.send(.setName("a"))
      observed.send(.setLoading(true))
      run()
      #expect(seen.elements == [0, 10])
      scope.dispose()
    }

    @Test func `a run needs no more stack than the one before`() {
      let addresses = Record<UInt>()
      let scope = ReactorObserving(on: loop.observation) { [observed] in
        var place = observed.count
        addresses.append(withUnsafePointer(to: &place) { UInt(bitPattern: $0) })
      }
      run()
      for _ in 0..<100 {
        observed.send(.increase)
        run()
      }
      #expect(addresses.elements.count == 101)
      #expect(Set(addresses.elements).count == 1)
      scope.dispose()
    }

    @Test func `it observes what its latest run has read`() {
      let scope = ReactorObserving(on: loop.observation) { [observed, seen] in
        seen.append(observed.isLoading ? -1 : observed.count)
      }
      run()
      observed.send(.setLoading(true))
      run()
      observed.send(.increase)
      run()
      observed.send(.setLoading(false))
      run()
      #expect(seen.elements == [0, -1, 1])
      scope.dispose()
    }

    @Test func `after it is disposed of it does not run, and releases what it has captured`() {
      let lifetimes = Lifetimes()
      let scope = ReactorObserving(on: loop.observation) { [observed, seen, tracked = lifetimes.track()] in
        seen.append(observed.count + tracked.value)
      }
      run()
      observed.send(.increase)
      scope.dispose()
      run()
      #expect(seen.elements == [0])
      #expect(lifetimes.alive == 0)
    }

    @Test func `it ends with the last reference to it`() {
      do {
        let scope = ReactorObserving(on: loop.observation) { [observed, seen] in seen.append(observed.count) }
        run()
        withExtendedLifetime(scope) {}
      }
      observed.send(.increase)
      run()
      #expect(seen.elements == [0])
    }

    @Test @MainActor func `on the main actor it runs at once`() {
      let observed = self.observed
      let scope = ReactorObserving { [seen] in seen.append(observed.count) }
      #expect(seen.elements == [0])
      scope.dispose()
    }

    @Test(arguments: [1, 100])
    func `a change that is shown during a run leads to another run`(changes: Int) throws {
      let other = try SteppedLoop()
      // Observation begins to observe what a run has read when the run has ended.
      let scope = ReactorObserving(on: other.observation) { [observed, seen, loop] in
        seen.append(observed.count)
        guard seen.elements.count == 1 else { return }
        for _ in 0..<changes {
          observed.send(.increase)
          loop.step()
        }
      }
      step(other)
      #expect(seen.elements == [0, changes])
      observed.send(.increase)
      loop.step()
      other.step()
      #expect(seen.elements == [0, changes, changes + 1])
      scope.dispose()
    }

    @Test(arguments: [1, 2, 17, 100])
    func `a change that is shown during a run, of what it has not read, leads to no other run`(
      changes: Int
    ) throws {
      let other = try SteppedLoop()
      let scope = ReactorObserving(on: other.observation) { [observed, seen, loop] in
        seen.append(observed.count)
        for number in 0..<changes {
          observed.send(.setName("\(seen.elements.count).\(number)"))
          loop.step()
        }
      }
      step(other)
      #expect(seen.elements == [0])
      #expect(observed.name == "1.\(changes - 1)")
      scope.dispose()
    }

    @Test func `a change that came back during a run leads to no other run`() throws {
      let other = try SteppedLoop()
      let scope = ReactorObserving(on: other.observation) { [observed, seen, loop] in
        seen.append(observed.isLoading ? 1 : 0)
        for isLoading in [true, false] {
          observed.send(.setLoading(isLoading))
          loop.step()
        }
      }
      step(other)
      #expect(seen.elements == [0])
      observed.send(.setLoading(true))
      loop.step()
      step(other)
      #expect(seen.elements == [0, 1, 0], "the second run has read the change, and leaves another value")
      scope.dispose()
    }

    @Test func `of the states that a run has read, each one that differs leads to another run`() throws {
      let other = try SteppedLoop()
      let scope = ReactorObserving(on: other.observation) { [observed, seen, loop] in
        seen.append(observed.count)
        guard seen.elements.count == 1 else { return }
        // Reads that it is loading, which is over when the run ends.
        for isLoading in [true, false] {
          observed.send(.setLoading(isLoading))
          loop.step()
          if isLoading { _ = observed.isLoading }
        }
      }
      step(other)
      #expect(seen.elements == [0, 0])
      scope.dispose()
    }

    @Test func `a nested state that comes again during a run is observed`() throws {
      let other = try SteppedLoop()
      let names = Record<String?>()
      show(.select(Profiles.Profile(name: "a")))
      let scope = ReactorObserving(on: other.observation) { [observed, loop] in
        names.append(observed.selected?.name)
        guard names.elements.count == 1 else { return }
        for profile in [nil, Profiles.Profile(name: "b")] {
          observed.send(.select(profile))
          loop.step()
        }
      }
      step(other)
      #expect(names.elements == ["a", "b"])
      show(.renameSelected("c"))
      other.step()
      #expect(names.elements == ["a", "b", "c"])
      scope.dispose()
    }

    @Test func `the whole state, changed during a run, leads to another run`() throws {
      let other = try SteppedLoop()
      let scope = ReactorObserving(on: other.observation) { [observed, seen, loop] in
        seen.append(observed.state.count)
        guard seen.elements.count == 1 else { return }
        observed.send(.increase)
        loop.step()
      }
      step(other)
      #expect(seen.elements == [0, 1])
      scope.dispose()
    }

    @Test func `what was read inside of another run belongs to both`() throws {
      let other = try SteppedLoop()
      let (inner, isFirst) = (Record<ReactorObserving>(), Record<Bool>())
      let scope = ReactorObserving(on: other.observation) { [observed, seen, loop] in
        inner.append(ReactorObserving(on: other.observation) { seen.append(observed.count) })
        inner.elements.last?.dispose()
        isFirst.append(isFirst.elements.isEmpty)
        guard isFirst.elements.last == true else { return }
        observed.send(.increase)
        loop.step()
      }
      step(other)
      #expect(seen.elements == [0, 1])
      scope.dispose()
    }

    private func show(_ action: Profiles.Action) {
      observed.send(action)
      loop.step()
    }

    private func run() { for _ in 0..<3 { loop.step() } }
  }
#endif
