#if ObservationMacros
  import ReactorObservation
  import ReactorRuntime
  import ReactorTesting

  /// A reactor whose state has a property of each kind.
  final class Profiles: Reactor {
    enum Action: Sendable {
      case increase
      case setName(String)
      case setLoading(Bool)
      case setCache(Int)
      case alert(String?)
      case rename(String)
      case setAge(Int)
      case select(Profile?)
      case renameSelected(String)
      case show(Page)
      case setOpaque(Int)
      case signal(Int)
      case replace(State)
    }

    @ObservableState struct Profile: Sendable {
      var name = ""
      var age = 0
    }

    @ObservableState enum Page: Sendable {
      case none
      case profile(Profile)
      case number(Int)
    }

    struct Opaque: Sendable { var number = 0 }

    @ObservableState struct State: Sendable {
      var count = 0
      var name = ""
      var isLoading = false
      var profile = Profile()
      var selected: Profile?
      var page = Page.none
      var opaque = Opaque()
      var otherOpaque = Opaque()
      @ObservableStateIgnored var cache = 0
      @Pulse var message: String?
      @Pulse var signal = Opaque()
      var isEmpty: Bool { count == 0 }
    }

    let initialState = State()
    let runtime: Runtime<Action, Action, State>

    init(on placement: Placement = .caller) { runtime = Runtime(on: placement) }

    func reduce(into state: inout State, mutation: Action) {
      switch mutation {
      case .increase: state.count += 1
      case .setName(let name): state.name = name
      case .setLoading(let isLoading): state.isLoading = isLoading
      case .setCache(let cache): state.cache = cache
      case .alert(let message): state.message = message
      case .rename(let name): state.profile.name = name
      case .setAge(let age): state.profile.age = age
      case .select(let profile): state.selected = profile
      case .renameSelected(let name): state.selected?.name = name
      case .show(let page): state.page = page
      case .setOpaque(let number): state.opaque = Opaque(number: number)
      case .signal(let number): state.signal = Opaque(number: number)
      case .replace(let new): state = new
      }
    }
  }

  extension SteppedLoop {
    /// The loop as that of an observed reactor.
    var observation: ObservationLoop {
      guard case .loop(let loop) = placement else { fatalError("a stepped loop has a loop") }
      return .loop(loop)
    }
  }
#endif
