#if ObservationMacros
  import Observation
  import ReactorKitCompatibility
  import ReactorObservation
  import Testing

  /// A reactor as it is written for ReactorKit 4, without a runtime and with `reduce(state:mutation:)`.
  @Suite struct DropInObservationTests {
    final class Search: Reactor {
      enum Action: BindableAction, Sendable {
        case binding(BindingAction<State>)
        case load
      }
      enum Mutation: Sendable {
        case binding(BindingAction<State>)
        case setLoading(Bool)
        case setResults([String])
      }

      @ObservableState struct State {
        var query = ""
        var isLoading = false
        var results: [String] = []
        @Pulse var alert: String?
      }

      let initialState = State()

      func mutate(action: Action) -> Observable<Mutation> {
        switch action {
        case .binding(let binding): .just(.binding(binding))
        case .load:
          .concat([
            .just(.setLoading(true)), .just(.setResults([currentState.query])), .just(.setLoading(false)),
          ])
        }
      }

      func reduce(state: State, mutation: Mutation) -> State {
        var state = state
        switch mutation {
        case .binding(let binding): binding.apply(to: &state)
        case .setLoading(let isLoading): state.isLoading = isLoading
        case .setResults(let results):
          state.results = results
          state.alert = "\(results.count) found"
        }
        return state
      }
    }

    @Test @MainActor func `a reactor of ReactorKit 4 is observed and bound`() {
      @ReactorBindable var search = ObservedReactor(reactor: Search())
      let loading = Tracking { _ = search.isLoading }
      let results = Tracking { _ = search.results }
      let alert = Tracking { _ = search.alert }
      $search.query.wrappedValue = "swift"
      #expect(!results.isAnnounced)
      search.send(.load)
      #expect(search.results == ["swift"] && search.alert == "1 found" && !search.isLoading)
      #expect(results.isAnnounced && alert.isAnnounced)
      #expect(!loading.isAnnounced, "it was set and reset in one turn")
    }

    @Test @MainActor func `the stub shows the states that a test sets`() {
      let reactor = Search()
      reactor.isStubEnabled = true
      let search = ObservedReactor(reactor: reactor)
      let query = Tracking { _ = search.query }
      reactor.stub.state.value = Search.State(query: "stub")
      #expect(search.query == "stub")
      #expect(query.isAnnounced)
      search.send(.load)
      #expect(reactor.stub.actions.count == 1)
      search.query = "typed"
      #expect(search.query == "typed", "a stub reduces nothing, so nothing is taken back")
      #expect(reactor.stub.actions.count == 2)
      reactor.stub.state.value = Search.State(query: "stub")
      #expect(search.query == "stub")
    }

    @Test @MainActor func `transformed states are shown`() {
      let reactor = Shouting()
      let observed = ObservedReactor(reactor: reactor)
      observed.send("a")
      #expect(observed.text == "A")
    }

    final class Shouting: Reactor {
      typealias Action = String
      @ObservableState struct State {
        var text = ""
      }
      let initialState = State()

      func reduce(state: State, mutation: String) -> State {
        var state = state
        state.text = mutation
        return state
      }

      func transform(state: Observable<State>) -> Observable<State> {
        state.map { state in
          var state = state
          state.text = state.text.uppercased()
          return state
        }
      }
    }

    /// Conforms without the macro.
    final class Manual: Reactor {
      typealias Action = Int
      struct State: ObservableState {
        var count = 0
      }
      let initialState = State()

      func reduce(state: State, mutation: Int) -> State { State(count: mutation) }
    }

    @Test @MainActor func `a state without the macro is announced as a whole`() {
      let observed = ObservedReactor(reactor: Manual())
      let count = Tracking { _ = observed.count }
      observed.send(3)
      #expect(count.isAnnounced)
      #expect(observed.count == 3)
    }
  }
#endif
