#if ObservationMacros
  import ReactorObservation
  import Testing

  @Suite struct IdentityTests {
    @Test func `two states that were made separately have different identities`() {
      let identities = (0..<100).map { _ in Basic()._$id }
      #expect(Set(identities).count == 100)
      #expect(ObservableStateID() != ObservableStateID())
    }

    @Test func `a copy has the identity of the original until one of them changes`() {
      let original = Basic()
      var copy = original
      #expect(copy._$id == original._$id)
      copy.count = 1
      #expect(copy._$id != original._$id)
    }

    @Test func `two copies that change separately have different identities`() {
      let original = Basic()
      var (left, right) = (original, original)
      left.count = 1
      right.count = 1
      #expect(left._$id != right._$id)
    }

    @Test func `an identity can be a key`() {
      let (one, other) = (ObservableStateID(), ObservableStateID())
      let names = [one: "one", other: "other"]
      #expect(names[one] == "one" && names[other] == "other")
      #expect(Set([one, other, one]).count == 2)
    }

    @Test func `a change in place gives a nested state another identity, and the state around it, too`() {
      var state = Outer()
      let (outer, inner) = (state._$id, state.inner._$id)
      state.inner.value = 1
      #expect(state._$id != outer)
      #expect(state.inner._$id != inner)
    }

    @Test func `a nested state with the same identity is no change`() {
      var state = Outer()
      let inner = state.inner
      #expect(!Tracking.announces({ state.inner = inner }, to: { _ = state.inner }))
      #expect(Tracking.announces({ state.inner = Inner(value: 1) }, to: { _ = state.inner }))
    }

    @Test func `the identity of an enum is that of its case and its state`() {
      let inner = Inner()
      #expect(Screen.empty._$id == Screen.empty._$id)
      #expect(Screen.item(inner)._$id == Screen.item(inner)._$id)
      #expect(Screen.item(inner)._$id != inner._$id)
      #expect(Screen.item(inner)._$id != Screen.item(Inner())._$id)
      #expect(Screen.number(1)._$id != Screen.number(1)._$id, "of a number nothing is known")
    }

    /// Conforms without the macro.
    struct Manual: ObservableState {
      var count = 0
    }

    @Test func `a state without the macro is always a new one`() {
      let state = Manual()
      #expect(state._$id != state._$id)
      #expect(!Manual._$announcesProperties)
    }
  }
#endif
