#if ObservationMacros
  import Observation
  import ReactorObservation
  import ReactorRuntime
  import ReactorTesting
  import Synchronization
  import TestSupport
  import Testing

  @Suite struct BindingTests {
    let loop: SteppedLoop
    let form = Form()
    @ReactorBindable var observed: ObservedReactor<Form>

    init() throws {
      loop = try SteppedLoop()
      _observed = ReactorBindable(ObservedReactor(reactor: form, on: loop.observation))
      loop.step()
    }

    @Test func `what a binding sets is shown at once`() {
      $observed.name.wrappedValue = "a"
      #expect(observed.name == "a")
      #expect($observed.name.wrappedValue == "a")
    }

    @Test func `an observer of what a binding sets reads the new value`() {
      let seen = Record<String>()
      withObservationTracking {
        _ = observed.name
      } onChange: { [observed] in
        seen.append(observed.name)
      }
      observed.name = "a"
      #expect(seen.elements == ["a"])
    }

    @Test func `what a binding sets is sent as an action`() {
      $observed.name.wrappedValue = "a"
      #expect(form.received.elements.count == 1)
      guard case .binding(let assignment)? = form.received.elements.first else {
        Issue.record("no binding was sent")
        return
      }
      #expect(assignment == .set(\.name, "a"))
      #expect(form.currentState.name == "a")
    }

    @Test func `what the reactor makes of the value is shown after its turn`() {
      observed.code = "abc"
      #expect(observed.code == "abc")
      loop.step()
      #expect(observed.code == "ABC")
      // Another value that the reactor makes the same of.
      observed.code = "abC"
      #expect(observed.code == "abC")
      loop.step()
      #expect(observed.code == "ABC")
    }

    @Test @MainActor func `on the main actor an assignment shows at once what the reactor makes of it`() {
      let form = Form()
      let observed = ObservedReactor(reactor: form)
      observed.code = "abc"
      #expect(observed.code == "ABC")
      #expect(form.received.elements.count == 1)
    }

    @Test func `setting a binding is announced to the readers of the property only, and once`() {
      let isOn = Tracking { _ = observed.isOn }
      let name = Tracking { _ = observed.name }
      $observed.name.wrappedValue = "a"
      #expect(name.isAnnounced)
      let again = Tracking { _ = observed.name }
      loop.step()
      #expect(!again.isAnnounced, "the reactor shows the same value")
      #expect(!isOn.isAnnounced)
    }

    @Test func `what the reactor has made differs from what was set`() {
      observed.code = "abc"
      let code = Tracking { _ = observed.code }
      loop.step()
      #expect(code.isAnnounced)
    }

    /// Makes the same of everything, in one change.
    final class Stubborn: Reactor {
      enum Action: BindableAction, Sendable { case binding(BindingAction<State>) }

      @ObservableState struct State: Sendable {
        var text = ""
      }

      let initialState = State()
      let runtime = Runtime<Action, Action, State>()

      func reduce(into state: inout State, mutation: Action) { state.text = "no" }
    }

    @Test func `a change in advance is not taken for the change that the reactor makes instead`() {
      let observed = ObservedReactor(reactor: Stubborn(), on: loop.observation)
      loop.step()
      observed.text = "yes"
      let text = Tracking { _ = observed.text }
      loop.step()
      #expect(observed.text == "no")
      #expect(text.isAnnounced)
    }

    @Test func `a binding to a part sets the part`() {
      let city = $observed.address.city
      city.wrappedValue = "Oslo"
      #expect(observed.address == Form.Address(city: "Oslo", number: 0))
      loop.step()
      #expect(form.currentState.address.city == "Oslo")
    }

    @Test func `a computed property can be bound`() {
      let name = Tracking { _ = observed.name }
      $observed.names.wrappedValue = ["a", "B"]
      #expect(observed.name == "a" && observed.code == "B")
      #expect(name.isAnnounced)
    }

    @Test func `a binding with an action sends that, and shows nothing of its own`() {
      let name = observed.binding(get: \.name, send: { .setName($0 + "!") })
      name.wrappedValue = "a"
      #expect(name.wrappedValue == "")
      loop.step()
      #expect(name.wrappedValue == "a!")
      let submissions = observed.binding(get: \.submissions, send: .submit)
      submissions.wrappedValue = 77
      loop.step()
      #expect(submissions.wrappedValue == 1)
    }

    @Test func `a read of a binding is observed`() {
      let name = observed.binding(get: \.name, send: { .setName($0) })
      let tracking = Tracking { _ = name.wrappedValue }
      form.send(.setName("a"))
      loop.step()
      #expect(tracking.isAnnounced)
    }

    @Test func `bindings set on several threads are all announced`() {
      let loop = self.loop
      let observed = self.observed
      #expect(
        Threads.run(2) { index in
          for number in 1...200 {
            if index == 0 { observed.name = "\(number)" } else { observed.isOn.toggle() }
          }
        })
      loop.run()
      loop.step()
      #expect(observed.name == "200" && form.currentState.name == "200")
      #expect(observed.isOn == form.currentState.isOn)
    }

    @Test func `a binding of closures calls them, and a constant one ignores what is set`() {
      let record = Record<Int>()
      let binding = Binding(get: { 7 }, set: { record.append($0) })
      binding.wrappedValue = 8
      #expect(binding.wrappedValue == 7 && record.elements == [8])
      let constant = Binding.constant("a")
      constant.wrappedValue = "b"
      #expect(constant.wrappedValue == "a")
    }

    struct Field {
      @Binding var text: String

      func append(_ suffix: String) { text += suffix }
    }

    @Test func `a binding can be handed on`() {
      let field = Field(text: $observed.name)
      field.append("x")
      field.append("y")
      #expect(observed.name == "xy")
      #expect(field.$text.wrappedValue == "xy")
    }
  }
#endif
