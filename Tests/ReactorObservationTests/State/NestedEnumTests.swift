#if ObservationMacros
  import ReactorObservation
  import ReactorRuntime
  import ReactorTesting
  import Testing

  /// Enums that contain enums: a change of the inner case is a change of the outer value.
  @Suite struct NestedEnumTests {
    typealias Change = @Sendable (inout State) -> Void

    @ObservableState enum Step: Sendable {
      case one, two
    }

    @ObservableState enum Screen: Sendable {
      case home
      case wizard(Step)
      case review(Step)
      case item(Item)
    }

    @ObservableState enum Item: Sendable {
      case viewed(Inner)
      case edited(Inner)
    }

    @ObservableState enum Window: Sendable {
      case closed
      case open(Screen)
    }

    @ObservableState enum Tab: Equatable, Sendable {
      case list, grid
    }

    @ObservableState enum Place: Equatable, Sendable {
      case start
      case tab(Tab)
    }

    @ObservableState indirect enum Tree: Sendable {
      case leaf
      case left(Tree)
      case right(Tree)
    }

    @ObservableState struct State: Sendable {
      var screen = Screen.wizard(.one)
      var optional: Screen? = .wizard(.one)
      var item = Screen.item(.viewed(Inner()))
      var window = Window.open(.wizard(.one))
      var place = Place.tab(.list)
      var optionalPlace: Place? = .tab(.list)
      var tree = Tree.left(.leaf)
      var count = 0
    }

    final class Screens: Reactor {
      let initialState = State()
      let runtime = Runtime<Change, Change, State>()

      func reduce(into state: inout State, mutation: Change) { mutation(&state) }
    }

    /// Changes the inner case of each property, but for the last one.
    static let change: Change = { state in
      state.screen = .wizard(.two)
      state.optional = .wizard(.two)
      if case .item(.viewed(let inner)) = state.item { state.item = .item(.edited(inner)) }
      state.window = .open(.wizard(.two))
      state.place = .tab(.grid)
      state.optionalPlace = .tab(.grid)
      state.tree = .left(.left(.leaf))
    }

    /// Begins to track each property, and none.
    private func readers(_ read: @escaping @Sendable () -> State) -> [Tracking] {
      [
        Tracking { _ = read().screen }, Tracking { _ = read().optional }, Tracking { _ = read().item },
        Tracking { _ = read().window }, Tracking { _ = read().place }, Tracking { _ = read().optionalPlace },
        Tracking { _ = read().tree }, Tracking { _ = read().count },
      ]
    }

    @Test func `an assignment of another inner case is announced`() {
      let original = State()
      var state = original
      let readers = readers { original }
      Self.change(&state)
      #expect(readers.map(\.isAnnounced) == [true, true, true, true, true, true, true, false])
    }

    @Test func `another inner case is announced when it is shown`() throws {
      let loop = try SteppedLoop()
      let observed = ObservedReactor(reactor: Screens(), on: loop.observation)
      loop.step()
      let readers = [
        Tracking { _ = observed.screen }, Tracking { _ = observed.optional }, Tracking { _ = observed.item },
        Tracking { _ = observed.window }, Tracking { _ = observed.place },
        Tracking { _ = observed.optionalPlace },
        Tracking { _ = observed.tree }, Tracking { _ = observed.count },
      ]
      observed.send(Self.change)
      loop.step()
      #expect(readers.map(\.isAnnounced) == [true, true, true, true, true, true, true, false])
    }

    @Test func `an inner case that is changed in place is announced when it is shown`() throws {
      let loop = try SteppedLoop()
      let observed = ObservedReactor(reactor: Screens(), on: loop.observation)
      loop.step()
      let reader = Tracking { _ = observed.screen }
      observed.send {
        func change(_ screen: inout Screen) { screen = .wizard(.two) }
        change(&$0.screen)
      }
      loop.step()
      #expect(reader.isAnnounced)
    }

    @Test func `the identity is that of all cases and of the state inside`() {
      let inner = Inner()
      let screens = [Screen.home, .wizard(.one), .wizard(.two), .review(.one), .review(.two)]
      #expect(Set(screens.map(\._$id)).count == 5)
      let windows = [Window.closed, .open(.home), .open(.wizard(.one)), .open(.wizard(.two))]
      #expect(Set(windows.map(\._$id)).count == 4)
      #expect(Screen.wizard(.one)._$id == Screen.wizard(.one)._$id)
      #expect(Screen.item(.viewed(inner))._$id == Screen.item(.viewed(inner))._$id)
      #expect(Screen.item(.viewed(inner))._$id != Screen.item(.edited(inner))._$id)
      #expect(Screen.item(.viewed(inner))._$id != Screen.item(.viewed(Inner()))._$id)
    }

    @Test func `trees of different form have different identities, of whatever depth`() {
      var trees = [Tree.leaf]
      var level = trees
      for _ in 0..<6 {
        level = level.flatMap { [.left($0), .right($0)] }
        trees += level
      }
      #expect(Set(trees.map(\._$id)).count == trees.count)
      let deep = (0..<100).reduce(Tree.leaf) { tree, _ in .left(tree) }
      let deeper = (0..<100).reduce(Tree.right(.leaf)) { tree, _ in .left(tree) }
      #expect(deep._$id != deeper._$id)
    }
  }
#endif
