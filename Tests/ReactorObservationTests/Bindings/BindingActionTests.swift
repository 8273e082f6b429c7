#if ObservationMacros
  import ReactorObservation
  import Testing

  @Suite struct BindingActionTests {
    typealias Assignment = BindingAction<Form.State>

    @Test func `it assigns its value`() {
      var state = Form.State()
      Assignment.set(\.name, "a").apply(to: &state)
      Assignment.set(\.address.city, "b").apply(to: &state)
      #expect(state.name == "a" && state.address.city == "b")
    }

    @Test func `a key path matches the assignment to its property`() {
      let assignment = Assignment.set(\.name, "a")
      #expect(\Form.State.name ~= assignment)
      #expect(!(\Form.State.code ~= assignment))
      #expect(assignment.keyPath == \Form.State.name)
      let names = [Form.Action.binding(assignment), .binding(.set(\.code, "b"))].map { action in
        switch action {
        case .binding(\.name): true
        default: false
        }
      }
      #expect(names == [true, false])
    }

    @Test func `two are equal if the property and the value are`() {
      #expect(Assignment.set(\.name, "a") == .set(\.name, "a"))
      #expect(Assignment.set(\.name, "a") != .set(\.name, "b"))
      #expect(Assignment.set(\.name, "a") != .set(\.code, "a"))
      #expect(Assignment.set(\.name, "a") != .set(\.submissions, 0))
      #expect(Assignment.set(\.submissions, 0) != .set(\.name, "a"))
    }

    struct Holder: Sendable {
      struct Opaque: Sendable {}
      var opaque = Opaque()
    }

    @Test func `a value that cannot be compared is equal to none`() {
      let assignment = BindingAction<Holder>.set(\.opaque, Holder.Opaque())
      #expect(assignment != assignment)
      var holder = Holder()
      assignment.apply(to: &holder)
    }
  }
#endif
