#if ObservationMacros
  import Observation
  import ReactorObservation
  import ReactorRuntime
  import ReactorTesting
  import TestSupport
  import Testing

  @Suite struct ObservedReactorTests {
    let loop: SteppedLoop
    let reactor = Profiles()
    let observed: ObservedReactor<Profiles>

    init() throws {
      loop = try SteppedLoop()
      observed = ObservedReactor(reactor: reactor, on: loop.observation)
      loop.step()
    }

    /// Whether the actions are announced to what has done `read`.
    func announces(_ actions: Profiles.Action..., to read: () -> Void) -> Bool {
      let tracking = Tracking(read)
      for action in actions { observed.send(action) }
      loop.step()
      return tracking.isAnnounced
    }

    @Test func `it begins with the reactor's state`() throws {
      reactor.send(.increase)
      let late = ObservedReactor(reactor: reactor, on: loop.observation)
      #expect(late.count == 1 && late.state.count == 1)
      #expect(late.name == "" && !late.isLoading && late.message == nil)
    }

    @Test func `a state is shown by the loop, and not before`() {
      observed.send(.increase)
      #expect(reactor.currentState.count == 1)
      #expect(observed.count == 0)
      loop.step()
      #expect(observed.count == 1)
    }

    @Test func `many actions lead to the newest state`() {
      for _ in 0..<100 { observed.send(.increase) }
      observed.send(.setName("a"))
      loop.step()
      #expect(observed.count == 100 && observed.name == "a")
    }

    @Test func `a change is announced to the readers of the property only`() {
      let name = Tracking { _ = observed.name }
      #expect(announces(.increase, to: { _ = observed.count }))
      #expect(!name.isAnnounced)
      #expect(announces(.setName("b"), to: { _ = observed.name }))
    }

    @Test func `who is told reads the new state`() {
      let seen = Record<Int>()
      withObservationTracking {
        _ = observed.count
      } onChange: { [observed] in
        seen.append(observed.count)
      }
      observed.send(.increase)
      observed.send(.increase)
      loop.step()
      #expect(seen.elements == [2])
    }

    @Test func `what is changed and changed back is not announced`() {
      #expect(!announces(.setLoading(true), .setLoading(false), to: { _ = observed.isLoading }))
    }

    @Test func `an assignment of an equal value is not announced`() {
      #expect(!announces(.setName(""), to: { _ = observed.name }))
    }

    @Test func `of values that cannot be compared, the one that was assigned is announced`() {
      let other = Tracking { _ = observed.otherOpaque }
      #expect(announces(.setOpaque(1), to: { _ = observed.opaque }))
      #expect(!other.isAnnounced)
    }

    @Test func `an ignored property is announced to readers of the whole state only`() {
      let count = Tracking { _ = observed.count }
      let cache = Tracking { _ = observed.cache }
      #expect(announces(.setCache(7), to: { _ = observed.state }))
      #expect(observed.cache == 7)
      #expect(!count.isAnnounced && !cache.isAnnounced)
    }

    @Test func `each assignment of a pulse is announced`() {
      let count = Tracking { _ = observed.count }
      #expect(announces(.alert("a"), to: { _ = observed.message }))
      #expect(observed.message == "a")
      #expect(announces(.alert("a"), to: { _ = observed.message }))
      #expect(!count.isAnnounced)
      #expect(!announces(.increase, to: { _ = observed.message }))
    }

    @Test func `a pulse of a state that was made separately is announced if it differs`() {
      observed.send(.alert("a"))
      loop.step()
      // Assigned as often as the one that is shown.
      var new = Profiles.State()
      new.message = "b"
      #expect(announces(.replace(new), to: { _ = observed.message }))
      #expect(observed.message == "b")
      var equal = Profiles.State()
      equal.message = "b"
      #expect(!announces(.replace(equal), to: { _ = observed.message }))
    }

    @Test func `a pulse that cannot be compared is announced if it was assigned, or the state is another`() {
      #expect(announces(.signal(1), to: { _ = observed.signal }))
      #expect(!announces(.increase, to: { _ = observed.signal }))
      var new = Profiles.State()
      new.signal = Profiles.Opaque(number: 2)
      #expect(announces(.replace(new), to: { _ = observed.signal }))
      #expect(observed.signal.number == 2)
    }

    @Test func `a value that was sent to the reactor still announces its own changes`() {
      var draft = Profiles.Profile()
      _ = draft.name
      observed.send(.select(draft))
      loop.step()
      #expect(Tracking.announces({ draft.name = "x" }, to: { _ = draft.name }))
      #expect(observed.selected?.name == "")
    }

    @Test func `a change of the state that the reactor began with is announced only when it is shown`() {
      let (initial, tracked) = (reactor.currentState, Tracking { _ = reactor.currentState.profile.name })
      observed.send(.rename("a"))
      #expect(!tracked.isAnnounced)
      #expect(initial.profile.name == "")
    }

    @Test func `a computed property is announced by what it reads`() {
      #expect(announces(.increase, to: { _ = observed.isEmpty }))
      #expect(!announces(.setName("c"), to: { _ = observed.isEmpty }))
    }

    @Test func `a property that is read from the whole state is announced`() {
      #expect(announces(.increase, to: { _ = observed.state.count }))
    }

    @Test func `a nested property is announced, again and again`() {
      for number in 1...3 {
        #expect(announces(.rename("\(number)"), to: { _ = observed.profile.name }))
        #expect(observed.profile.name == "\(number)")
      }
      #expect(!announces(.increase, to: { _ = observed.profile.name }))
    }

    @Test func `a nested state that was read once announces its own properties apart`() {
      let profile = observed.profile
      let age = Tracking { _ = profile.age }
      #expect(announces(.rename("d"), to: { _ = profile.name }))
      #expect(!age.isAnnounced)
    }

    @Test func `an optional state is announced when it comes, changes and goes`() {
      let read = { _ = observed.selected?.name }
      #expect(announces(.select(Profiles.Profile(name: "a")), to: read))
      #expect(announces(.renameSelected("b"), to: read))
      #expect(observed.selected?.name == "b")
      #expect(announces(.select(nil), to: read))
      #expect(!announces(.renameSelected("c"), to: read))
    }

    @Test func `a state in an optional or an enum announces its own properties to its holder`() {
      let profile = Profiles.Profile(name: "a", age: 1)
      _ = announces(.select(profile), .show(.profile(profile)), to: {})
      guard let selected = observed.selected, case .profile(let shown) = observed.page else {
        Issue.record("nothing is selected")
        return
      }
      let (selectedAge, shownAge) = (Tracking { _ = selected.age }, Tracking { _ = shown.age })
      #expect(announces(.renameSelected("b"), to: { _ = selected.name }))
      #expect(announces(.show(.profile(Profiles.Profile(name: "c", age: 1))), to: { _ = shown.name }))
      #expect(!selectedAge.isAnnounced && !shownAge.isAnnounced)
    }

    @Test func `an enum is announced when its case changes, and its state when that changes`() {
      let read = {
        if case .profile(let profile) = observed.page { _ = profile.name }
      }
      #expect(announces(.show(.profile(Profiles.Profile(name: "a"))), to: read))
      #expect(announces(.show(.profile(Profiles.Profile(name: "b"))), to: read))
      #expect(announces(.show(.number(1)), to: read))
      #expect(announces(.show(.none), to: read))
      #expect(!announces(.show(.none), to: read))
    }

    @Test func `a state that replaces the whole is announced by the properties that differ`() {
      let name = Tracking { _ = observed.name }
      #expect(
        announces(.replace(Profiles.State(count: 5)), to: { _ = observed.count }))
      #expect(observed.count == 5)
      #expect(!name.isAnnounced)
      #expect(announces(.increase, to: { _ = observed.count }))
    }

    @Test func `an older state that comes back and changes again is announced`() {
      let older = reactor.currentState
      _ = announces(.setName("first"), to: {})
      // The same number of changes after the same state.
      #expect(announces(.replace(older), .setName("second"), to: { _ = observed.name }))
      #expect(observed.name == "second")
    }

    @Test func `two observed reactors of one reactor announce to their own readers`() throws {
      let otherLoop = try SteppedLoop()
      let other = ObservedReactor(reactor: reactor, on: otherLoop.observation)
      let tracking = Tracking { _ = other.count }
      #expect(announces(.increase, to: { _ = observed.count }))
      #expect(!tracking.isAnnounced)
      otherLoop.step()
      #expect(tracking.isAnnounced)
      #expect(other.count == 1)
    }

    @Test func `a value that was read from an observed reactor has other readers in the next one`() throws {
      observed.send(.select(Profiles.Profile()))
      loop.step()
      // What is shown becomes a part of both reactors.
      let reactors = [reactor, Profiles()]
      for receiver in reactors { receiver.send(.select(observed.selected)) }
      loop.step()
      let otherLoop = try SteppedLoop()
      let others = reactors.map { ObservedReactor(reactor: $0, on: otherLoop.observation) }
      otherLoop.step()
      let trackings = others.map { other in Tracking { _ = other.selected?.name } }
      #expect(announces(.renameSelected("b"), to: { _ = observed.selected?.name }))
      #expect(trackings.map(\.isAnnounced) == [false, false], "they show the old value")
      otherLoop.step()
      #expect(trackings.map(\.isAnnounced) == [true, false])
      #expect(others.map { $0.selected?.name } == ["b", ""])
    }

    @Test func `it retains the reactor and is retained by nobody`() throws {
      weak var weakReactor: Profiles?
      weak var weakObserved: ObservedReactor<Profiles>?
      do {
        let reactor = Profiles()
        let observed = ObservedReactor(reactor: reactor, on: loop.observation)
        weakReactor = reactor
        weakObserved = observed
        observed.send(.increase)
      }
      #expect(weakObserved == nil)
      #expect(weakReactor == nil)
      loop.step()
    }

    @Test func `nothing is shown after its loop was shut down`() {
      loop.shutdown()
      observed.send(.increase)
      #expect(observed.count == 0)
      #expect(reactor.currentState.count == 1)
    }
  }
#endif
