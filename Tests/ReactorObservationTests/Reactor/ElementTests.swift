#if ObservationMacros
  import ReactorJournal
  import ReactorJournalTesting
  import ReactorObservation
  import ReactorRuntime
  import ReactorTesting
  import TestSupport
  import Testing

  /// States that are elements of collections, or inside of a type without the macro.
  @Suite struct ElementTests {
    typealias Change = @Sendable (inout State) -> Void

    @ObservableState struct Item: Sendable {
      var name = ""
    }

    struct Row: Sendable {
      var item = Item()
    }

    @ObservableState struct State: Sendable {
      var items = [Item(), Item()]
      var table = ["a": Item()]
      var row = Row()
      var count = 0
    }

    final class List: Reactor {
      let initialState = State()
      let runtime: Runtime<Change, Change, State>

      init(_ snapshots: SnapshotPolicy = .automatic) { runtime = Runtime(snapshots: snapshots) }

      func reduce(into state: inout State, mutation: Change) { mutation(&state) }
    }

    final class ByValue: ReactorKitReactor {
      let initialState = State()
      let runtime = Runtime<Change, Change, State>()

      func reduce(state: State, mutation: Change) -> State {
        var state = state
        mutation(&state)
        return state
      }
    }

    final class Transformed: Reactor {
      let initialState = State()
      let runtime = Runtime<Change, Change, State>()

      func reduce(into state: inout State, mutation: Change) { mutation(&state) }

      func transform(state: Observable<State>) -> Observable<State> { state.map { $0 } }
    }

    static let changes: [Change] = [
      { $0.items[0].name = "x" }, { $0.table["a"]?.name = "x" }, { $0.row.item.name = "x" },
    ]

    /// Sends a change of each kind, and expects that it is announced when it is shown and not before.
    func check<R: Reactor<Change, Change, State>>(_ reactor: R) throws {
      let loop = try SteppedLoop()
      let observed = ObservedReactor(reactor: reactor, on: loop.observation)
      loop.step()
      let reads: [() -> Void] = [
        { _ = observed.items[0].name }, { _ = observed.table["a"]?.name }, { _ = observed.row.item.name },
      ]
      for (change, read) in zip(Self.changes, reads) {
        let tracking = Tracking(read)
        observed.send(change)
        #expect(!tracking.isAnnounced, "it is not shown yet")
        loop.step()
        #expect(tracking.isAnnounced)
      }
      #expect(observed.items[0].name == "x" && observed.row.item.name == "x")
    }

    @Test func `a change of an element is announced when it is shown, and not by the thread that reduces`()
      throws
    {
      for snapshots in [SnapshotPolicy.copied, .onDemand, .replayed] { try check(List(snapshots)) }
      try check(ByValue())
    }

    @Test func `so is a change before a transform of the states`() throws { try check(Transformed()) }

    final class Durable: DurableReactor {
      @ObservableState struct State: Codable, Sendable {
        var names = [Name(), Name()]
      }

      @ObservableState struct Name: Codable, Sendable {
        var text = ""
      }

      typealias Action = Rename

      struct Rename: Codable, JournalRecord {
        let text: String
      }

      static let schema = Schema("names")
      let initialState = State()
      let runtime: Runtime<Rename, Rename, State>

      init(_ journal: Journal, _ visibility: Visibility) {
        runtime = Runtime(journal: journal.entry("names"), visibility: visibility)
      }

      func reduce(into state: inout State, mutation: Rename) { state.names[0].text = mutation.text }
    }

    @Test(arguments: [Visibility.durable, .latest])
    func `a change by a durable reactor is announced once, when it is shown`(_ visibility: Visibility)
      async throws
    {
      let store = InMemoryStore()
      let journal = try Journal(store: store)
      let reactor = Durable(journal, visibility)
      try reactor.recover()
      // What a recovery gives: both states of the reactor have these elements.
      let loop = try SteppedLoop()
      let observed = ObservedReactor(reactor: reactor, on: loop.observation)
      loop.step()
      let tracking = Tracking { _ = observed.names[0].text }
      let elements = Tracking { _ = observed.names[0].text }
      store.hold()
      reactor.send(Durable.Rename(text: "x"))
      #expect(!tracking.isAnnounced, "it is not durable, or not shown yet")
      store.release()
      try await reactor.sendDurably(Durable.Rename(text: "y"))
      #expect(!elements.isAnnounced, "it is not shown yet")
      loop.step()
      #expect(tracking.isAnnounced && elements.isAnnounced)
      #expect(observed.names[0].text == "y")
      try Shutdown.close([journal], before: .now + .seconds(60))
    }

    @Test func `a value that is changed outside of reduce is announced at once, also in a turn`() throws {
      let loop = try SteppedLoop()
      let reactor = List()
      let observed = ObservedReactor(reactor: reactor, on: loop.observation)
      loop.step()
      let announced = Record<Bool>()
      let disposable = reactor.state.subscribe(onNext: { _ in
        var draft = Item()
        announced.append(Tracking.announces({ draft.name = "x" }, to: { _ = draft.name }))
      })
      observed.send { $0.count += 1 }
      #expect(announced.elements == [true, true])
      disposable.dispose()
      var draft = Item()
      #expect(Tracking.announces({ draft.name = "x" }, to: { _ = draft.name }))
    }

    @Test func `a value that the observer of another reactor changes inside of reduce is announced`() throws {
      let loop = try SteppedLoop()
      let (outer, inner) = (List(), List())
      let observed = [outer, inner].map { ObservedReactor(reactor: $0, on: loop.observation) }
      loop.step()
      let announced = Record<Bool>()
      let disposable = inner.state.skip(1).subscribe(onNext: { _ in
        var draft = Item()
        announced.append(Tracking.announces({ draft.name = "x" }, to: { _ = draft.name }))
      })
      let tracking = Tracking { _ = observed[0].items[0].name }
      outer.send { state in
        inner.send { $0.count += 1 }
        // After a turn of another reactor, this is inside of reduce again.
        state.items[0].name = "x"
      }
      #expect(announced.elements == [true])
      #expect(!tracking.isAnnounced)
      loop.step()
      #expect(tracking.isAnnounced)
      disposable.dispose()
    }
  }
#endif
