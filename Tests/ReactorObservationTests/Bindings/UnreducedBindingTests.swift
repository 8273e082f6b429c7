#if ObservationMacros
  import ReactorObservation
  import ReactorRuntime
  import ReactorTesting
  import TestSupport
  import Testing

  /// What a binding shows in advance, and the reactor then does not make its state.
  @Suite struct UnreducedBindingTests {
    /// Passes on nothing but what is lower case.
    final class Strict: Reactor {
      enum Action: BindableAction, Sendable {
        case binding(BindingAction<State>)
        case other
      }

      @ObservableState struct State: Sendable {
        var text = ""
        var count = 0
      }

      let initialState = State()
      let runtime: Runtime<Action, Action, State>
      private let filtersActions: Bool

      init(
        on placement: Placement = .caller, filtersActions: Bool = false, capacity: Int = 4096,
        overflow: OverflowPolicy = .block, _ failures: Record<Failure> = Record()
      ) {
        self.filtersActions = filtersActions
        runtime = Runtime(on: placement, capacity: capacity, overflow: overflow) { failures.append($0) }
      }

      private func isAllowed(_ action: Action) -> Bool {
        guard case .binding(let binding) = action else { return true }
        var state = State()
        binding.apply(to: &state)
        return state.text == state.text.lowercased()
      }

      func transform(action: Observable<Action>) -> Observable<Action> {
        filtersActions ? action.filter { [unowned self] in isAllowed($0) } : action
      }

      func mutate(action: Action) -> Observable<Action> { isAllowed(action) ? .just(action) : .empty() }

      func reduce(into state: inout State, mutation: Action) {
        switch mutation {
        case .binding(let binding): binding.apply(to: &state)
        case .other: state.count += 1
        }
      }
    }

    let loop: SteppedLoop

    init() throws { loop = try SteppedLoop() }

    func observe(_ reactor: Strict) -> ObservedReactor<Strict> {
      let observed = ObservedReactor(reactor: reactor, on: loop.observation)
      loop.run()
      return observed
    }

    @Test(arguments: [false, true])
    func `a value that the reactor does not reduce is shown until the action was processed`(isFiltered: Bool)
    {
      let observed = observe(Strict(filtersActions: isFiltered))
      observed.text = "a"
      loop.step()
      observed.text = "A"
      #expect(observed.text == "A")
      let tracking = Tracking { _ = observed.text }
      loop.step()
      #expect(observed.text == "a")
      #expect(tracking.isAnnounced)
    }

    @Test func `a value is shown while its action waits`() throws {
      let other = try SteppedLoop()
      let observed = ObservedReactor(reactor: Strict(on: other.placement), on: loop.observation)
      other.run()
      loop.run()
      observed.text = "A"
      loop.run()
      #expect(observed.text == "A")
      other.run()
      #expect(observed.text == "A")
      loop.run()
      #expect(observed.text == "")
    }

    @Test @MainActor func `on the main actor it is gone when the assignment returns`() {
      let observed = ObservedReactor(reactor: Strict())
      observed.text = "A"
      #expect(observed.text == "")
      observed.text = "a"
      #expect(observed.text == "a")
    }

    @Test
    func `a value that the reactor reduces is shown in advance and after the turn, and not a third time`() {
      let observed = observe(Strict())
      let whole = Record<String>()
      let scope = ReactorObserving(on: loop.observation) { whole.append(observed.state.text) }
      loop.run()
      observed.text = "a"
      loop.run()
      #expect(observed.text == "a")
      #expect(whole.elements == ["", "a", "a"])
      scope.dispose()
    }

    @Test(arguments: [OverflowPolicy.fail, .dropNewest])
    func `a value whose action finds no room is not shown any longer, and the action is reported`(
      overflow: OverflowPolicy
    ) throws {
      let (other, failures) = (try SteppedLoop(), Record<Failure>())
      let reactor = Strict(on: other.placement, capacity: 2, overflow: overflow, failures)
      let observed = ObservedReactor(reactor: reactor, on: loop.observation)
      other.run()
      loop.run()
      while (try? reactor.trySend(.other)) != nil {}
      observed.text = "a"
      #expect(failures.elements.count == 1)
      loop.run()
      #expect(observed.text == "")
      #expect(reactor.counters.dropped == (overflow == .dropNewest ? 1 : 0))
    }

    @Test func `with dropOldest a value whose action finds no room is reduced`() throws {
      let (other, failures) = (try SteppedLoop(), Record<Failure>())
      let reactor = Strict(on: other.placement, capacity: 2, overflow: .dropOldest, failures)
      let observed = ObservedReactor(reactor: reactor, on: loop.observation)
      other.run()
      loop.run()
      while (try? reactor.trySend(.other)) != nil {}
      observed.text = "a"
      other.run()
      loop.run()
      #expect(observed.text == "a")
    }

    @Test func `a value that is sent to a reactor that is closed is not shown any longer`() {
      let failures = Record<Failure>()
      let reactor = Strict(failures)
      let observed = observe(reactor)
      reactor.close()
      observed.text = "a"
      loop.run()
      #expect(observed.text == "")
      #expect(failures.elements.count == 1)
    }

    @Test func `a value whose action is discarded while it waits is not shown any longer`() throws {
      let (other, failures) = (try SteppedLoop(), Record<Failure>())
      let reactor = Strict(on: other.placement, failures)
      let observed = ObservedReactor(reactor: reactor, on: loop.observation)
      other.run()
      loop.run()
      observed.text = "a"
      reactor.close(.discard)
      other.run()
      loop.run()
      #expect(observed.text == "")
      #expect(failures.elements.count == 1)
    }
  }
#endif
