#if ObservationMacros
  import Observation
  import ReactorObservation
  import ReactorRuntime
  import ReactorTesting
  import TestSupport
  import Testing

  /// The code of the article ObservingStates and of the module's page.
  @Suite struct ObservingStatesSnippets {
    final class Counter: Reactor {
      enum Action {
        case increase
        case rename(String)
      }

      @ObservableState struct State {
        var count = 0
        var name = ""
      }

      let initialState = State()
      let runtime = Runtime<Action, Action, State>()

      func reduce(into state: inout State, mutation: Action) {
        switch mutation {
        case .increase: state.count += 1
        case .rename(let name): state.name = name
        }
      }
    }

    @Test @MainActor func `the counter of the page prints what the page says`() {
      let printed = Record<String>()
      let counter = ObservedReactor(reactor: Counter())
      let label = ReactorObserving { printed.append("count: \(counter.count)") }
      counter.send(.increase)
      counter.send(.rename("clicks"))
      // What it has read changes on the main queue, which this test does not leave.
      #expect(counter.count == 1 && counter.name == "clicks")
      #expect(printed.elements == ["count: 0"])
      label.dispose()
    }

    @Test func `the counter of the page prints once per change`() throws {
      let loop = try SteppedLoop()
      let printed = Record<String>()
      let counter = ObservedReactor(reactor: Counter(), on: loop.observation)
      let label = ReactorObserving(on: loop.observation) { printed.append("count: \(counter.count)") }
      for _ in 0..<3 { loop.step() }
      counter.send(.increase)
      for _ in 0..<3 { loop.step() }
      counter.send(.rename("clicks"))
      for _ in 0..<3 { loop.step() }
      #expect(printed.elements == ["count: 0", "count: 1"])
      label.dispose()
    }

    final class Form: Reactor {
      enum Action: BindableAction {
        case binding(BindingAction<State>)
        case submit
      }

      @ObservableState struct State {
        var name = ""
        var isSent = false
      }

      let initialState = State()
      let runtime = Runtime<Action, Action, State>()

      func reduce(into state: inout State, mutation: Action) {
        switch mutation {
        case .binding(let binding): binding.apply(to: &state)
        case .submit: state.isSent = true
        }
      }
    }

    @Test @MainActor func `the form of the article shows what is set`() {
      @ReactorBindable var form = ObservedReactor(reactor: Form())
      let name = $form.name
      name.wrappedValue = "Ada"
      #expect(form.name == "Ada")
      form.send(.submit)
      #expect(form.isSent)
    }
  }
#endif
