#if ObservationMacros
  import ReactorObservation
  import ReactorRuntime
  import TestSupport

  /// A reactor that is set by bindings. It makes upper case of its code.
  final class Form: Reactor {
    enum Action: BindableAction, Sendable {
      case binding(BindingAction<State>)
      case submit
      case setName(String)
    }

    struct Address: Equatable, Sendable {
      var city = ""
      var number = 0
    }

    @ObservableState struct State: Sendable {
      var name = ""
      var isOn = false
      var code = ""
      var submissions = 0
      var address = Address()
      var names: [String] {
        get { [name, code] }
        set { (name, code) = (newValue[0], newValue[1]) }
      }
    }

    let initialState = State()
    let runtime: Runtime<Action, Action, State>
    let received = Record<Action>()

    init(on placement: Placement = .caller) { runtime = Runtime(on: placement) }

    func mutate(action: Action) -> Observable<Action> {
      received.append(action)
      return .just(action)
    }

    func reduce(into state: inout State, mutation: Action) {
      switch mutation {
      case .binding(let binding):
        binding.apply(to: &state)
        if \State.code ~= binding { state.code = state.code.uppercased() }
      case .submit: state.submissions += 1
      case .setName(let name): state.name = name
      }
    }
  }
#endif
