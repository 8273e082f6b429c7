#if ObservationMacros
  import ReactorObservation
  import ReactorRuntime
  import ReactorTesting
  import Testing

  /// Generic states: the macro knows of their parameters what the constraints say.
  @Suite struct GenericTests {
    typealias Change = @Sendable (inout State) -> Void

    @ObservableState struct Page<Content: ObservableState & Sendable>: Sendable {
      var content: Content
    }

    @ObservableState enum Loadable<Value: ObservableState & Sendable>: Sendable {
      case loading
      case loaded(Value)
    }

    @ObservableState struct Slot<Value: Equatable & Sendable>: Sendable {
      var value: Value
    }

    @ObservableState struct AnySlot<Value: Sendable>: Sendable {
      var value: Value
    }

    @ObservableState struct State: Sendable {
      var page = Page(content: Inner())
      var loadable = Loadable.loaded(Inner())
      var slot = Slot(value: 1)
      var anySlot = AnySlot(value: Inner())
    }

    final class Pages: Reactor {
      let initialState = State()
      let runtime = Runtime<Change, Change, State>()

      func reduce(into state: inout State, mutation: Change) { mutation(&state) }
    }

    let loop: SteppedLoop
    let observed: ObservedReactor<Pages>

    init() throws {
      loop = try SteppedLoop()
      observed = ObservedReactor(reactor: Pages(), on: loop.observation)
      loop.step()
    }

    private func show(_ change: @escaping Change) {
      observed.send(change)
      loop.step()
    }

    @Test func `a state whose type is a parameter announces its own properties to its holder`() {
      guard case .loaded(let loaded) = observed.loadable else {
        Issue.record("nothing is loaded")
        return
      }
      let content = observed.page.content
      let values = [Tracking { _ = content.value }, Tracking { _ = loaded.value }]
      let labels = [Tracking { _ = content.label }, Tracking { _ = loaded.label }]
      show {
        $0.page.content.label = "a"
        guard case .loaded(var inner) = $0.loadable else { return }
        inner.label = "a"
        $0.loadable = .loaded(inner)
      }
      #expect(labels.allSatisfy { $0.isAnnounced })
      #expect(!values.contains { $0.isAnnounced })
    }

    @Test func `an equal value whose type is a parameter that can be compared is no change`() {
      let equal = Tracking { _ = observed.slot }
      show { $0.slot.value = 1 }
      #expect(!equal.isAnnounced)
      show { $0.slot.value = 2 }
      #expect(equal.isAnnounced)
    }

    @Test
    func `of a parameter without constraints each assignment is announced to those that read it by its path`()
    {
      let reader = Tracking { _ = observed.anySlot.value.value }
      show { $0.anySlot.value.value = 1 }
      #expect(reader.isAnnounced)
      let equal = Tracking { _ = observed.anySlot.value.value }
      show { $0.anySlot.value = Inner(value: 1) }
      #expect(equal.isAnnounced)
    }
  }
#endif
