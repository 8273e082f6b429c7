#if ObservationMacros
  import Observation
  import ReactorObservation
  import ReactorRuntime
  import ReactorTesting
  import Synchronization
  import TestSupport
  import Testing

  /// Bindings to parts of a state that is a property of another one.
  @Suite struct DerivedBindingTests {
    final class Editor: Reactor {
      enum Action: BindableAction, Sendable { case binding(BindingAction<State>) }

      @ObservableState struct Address: Sendable {
        var city = ""
      }

      @ObservableState struct Profile: Sendable {
        var name = ""
        var address = Address()
      }

      @ObservableState struct Team: Sendable {
        var members = [Profile()]
        var first: String {
          get { members[0].name }
          set { members[0].name = newValue }
        }
      }

      struct Wrapper: Sendable {
        var profile = Profile()
      }

      @ObservableState struct State: Sendable {
        var profile = Profile()
        var selected: Profile? = Profile()
        var wrapper = Wrapper()
        var team = Team()
        var items = [Profile()]
        var nickname: String {
          get { profile.name }
          set { profile.name = newValue }
        }
      }

      let initialState = State()
      let runtime = Runtime<Action, Action, State>()

      func reduce(into state: inout State, mutation: Action) {
        guard case .binding(let binding) = mutation else { return }
        binding.apply(to: &state)
      }
    }

    /// Belongs to no reactor.
    final class Draft: Sendable {
      let profile = Mutex(Editor.Profile())
    }

    let loop: SteppedLoop
    let editor = Editor()
    @ReactorBindable var observed: ObservedReactor<Editor>

    init() throws {
      loop = try SteppedLoop()
      _observed = ReactorBindable(ObservedReactor(reactor: editor, on: loop.observation))
      loop.step()
    }

    /// What an observer of `read` reads when it is told of the assignment.
    func seen(_ read: @escaping @Sendable () -> String?, _ assign: () -> Void) -> [String?] {
      let seen = Record<String?>()
      withObservationTracking {
        _ = read()
      } onChange: {
        seen.append(read())
      }
      assign()
      return seen.elements
    }

    @Test func `an observer of what a derived binding sets reads the new value`() {
      let observed = self.observed
      #expect(seen({ observed.profile.name }, { $observed.profile.name.wrappedValue = "Ada" }) == ["Ada"])
      #expect(
        seen({ observed.profile.address.city }, { $observed.profile.address.city.wrappedValue = "Oslo" })
          == ["Oslo"])
      loop.step()
      #expect(editor.currentState.profile.name == "Ada" && editor.currentState.profile.address.city == "Oslo")
      #expect(observed.profile.name == "Ada" && observed.profile.address.city == "Oslo")
    }

    @Test func `an observer of what a derived binding sets in an optional state reads the new value`() {
      let observed = self.observed
      let name = $observed.selected[dynamicMember: \.!.name]
      #expect(seen({ observed.selected?.name }, { name.wrappedValue = "Ada" }) == ["Ada"])
      #expect(name.wrappedValue == "Ada")
    }

    @Test func `an observer of what a binding sets in an element or a wrapped state reads the new value`() {
      let observed = self.observed
      #expect(
        seen({ observed.wrapper.profile.name }, { $observed.wrapper.profile.name.wrappedValue = "Ada" })
          == ["Ada"])
      #expect(seen({ observed.items[0].name }, { $observed.items[0].name.wrappedValue = "Ada" }) == ["Ada"])
      loop.step()
      #expect(editor.currentState.wrapper.profile.name == "Ada" && editor.currentState.items[0].name == "Ada")
    }

    @Test func `an observer of what a key path or a setter changes inside of a state reads the new value`() {
      let observed = self.observed
      let name = $observed[dynamicMember: \.profile.name]
      #expect(seen({ observed.profile.name }, { name.wrappedValue = "Ada" }) == ["Ada"])
      #expect(seen({ observed.profile.name }, { $observed.nickname.wrappedValue = "Bob" }) == ["Bob"])
      let first = $observed[dynamicMember: \.items[0].name]
      #expect(seen({ observed.items[0].name }, { first.wrappedValue = "Ada" }) == ["Ada"])
      let city = $observed.wrapper[dynamicMember: \.profile.address.city]
      #expect(seen({ observed.wrapper.profile.address.city }, { city.wrappedValue = "Oslo" }) == ["Oslo"])
    }

    @Test func `an observer of a nested property that is assigned reads the new value`() {
      let observed = self.observed
      #expect(seen({ observed.profile.name }, { observed.profile.name = "Ada" }) == ["Ada"])
      #expect(seen({ observed.selected?.name }, { observed.selected?.name = "Ada" }) == ["Ada"])
    }

    @Test
    func `a binding that is derived from one with an action is announced when the reactor shows the value`() {
      let observed = self.observed
      let profile = observed.binding(get: \.profile, send: { .binding(.set(\.profile, $0)) })
      let assign = {
        profile.name.wrappedValue = "Ada"
        loop.step()
      }
      #expect(seen({ observed.profile.name }, assign) == ["Ada"])
    }

    @Test func `a binding that is derived from one to a value of one's own is announced at once`() {
      let draft = Draft()
      let binding = Binding(
        get: { draft.profile.withLock { $0 } }, set: { new in draft.profile.withLock { $0 = new } })
      #expect(
        Tracking.announces({ binding.name.wrappedValue = "Ada" }, to: { _ = binding.wrappedValue.name }))
      #expect(binding.wrappedValue.name == "Ada")
    }

    @Test func `a derived binding keeps what the reactor has changed beside it`() {
      editor.send(.binding(.set(\.profile.address.city, "Oslo")))
      #expect(observed.profile.address.city == "", "the loop has not shown it")
      $observed.profile.name.wrappedValue = "Ada"
      $observed.profile.address.city.wrappedValue += "!"
      #expect(editor.currentState.profile.name == "Ada")
      #expect(editor.currentState.profile.address.city == "!", "what is set is made of what is shown")
      editor.send(.binding(.set(\.profile.name, "Bob")))
      $observed.profile.address.city.wrappedValue = "Rome"
      #expect(editor.currentState.profile.name == "Bob" && editor.currentState.profile.address.city == "Rome")
      loop.step()
      #expect(observed.profile.name == "Bob" && observed.profile.address.city == "Rome")
    }

    /// The reactor has none of them any more, and that is not shown yet.
    @Test func `a part that the reactor has removed is set in the whole that is shown`() {
      editor.send(.binding(.set(\.items, [])))
      $observed.items[0].name.wrappedValue = "Ada"
      #expect(editor.currentState.items.map(\.name) == ["Ada"])
      editor.send(.binding(.set(\.team.members, [])))
      $observed.team[dynamicMember: \.members[0].name].wrappedValue = "Bob"
      #expect(editor.currentState.team.members.map(\.name) == ["Bob"])
      editor.send(.binding(.set(\.team.members, [])))
      $observed.team.first.wrappedValue = "Eve"
      #expect(editor.currentState.team.members.map(\.name) == ["Eve"])
    }

    @Test func `what a derived binding sends is a change of its property`() {
      let action = Record<BindingAction<Editor.State>>()
      let token = editor.action.subscribe(onNext: {
        if case .binding(let binding) = $0 { action.append(binding) }
      })
      $observed.profile.name.wrappedValue = "Ada"
      #expect(action.elements.count == 1 && \Editor.State.profile ~= action.elements[0])
      var state = Editor.State()
      state.profile.address.city = "Oslo"
      action.elements[0].apply(to: &state)
      #expect(state.profile.name == "Ada" && state.profile.address.city == "Oslo")
      // Which part it changes cannot be compared.
      #expect(action.elements[0] != .set(\.profile, observed.profile))
      token.dispose()
    }

    @Test func `a derived binding is announced to the readers of what it sets only`() {
      let profile = observed.profile
      let address = Tracking { _ = profile.address }
      #expect(Tracking.announces({ $observed.profile.name.wrappedValue = "Ada" }, to: { _ = profile.name }))
      #expect(!address.isAnnounced)
    }

    @Test func `what the reactor makes of a derived binding afterwards is announced`() {
      $observed.profile.name.wrappedValue = "Ada"
      loop.step()
      let name = Tracking { _ = observed.profile.name }
      editor.send(.binding(.set(\.profile.name, "Bob")))
      loop.step()
      #expect(name.isAnnounced)
      #expect(observed.profile.name == "Bob")
    }
  }
#endif
