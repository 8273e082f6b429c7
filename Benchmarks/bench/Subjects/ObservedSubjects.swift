#if ObservationMacros
  import ReactorCore
  import ReactorObservation
  import ReactorRuntime

  /// `SmallState` with properties that are observed: an action changes both.
  @ObservableState struct ObservableSmallState: SizedState {
    private(set) var count = 0
    private(set) var sum: UInt64 = 0

    @inline(__always)
    mutating func reduce(_ item: Item) {
      count &+= 1
      sum &+= item.value
    }

    var totals: Totals? { Totals(count: count, sum: sum) }
  }

  /// Long turns of a reactor that is observed on a loop, by code that reads both properties.
  final class ObservedTurnsSubject: FanInSubject {
    typealias Turns = LongTurnsSubject<ObservableSmallState>

    private let turns: Turns
    private let loop: Loop
    private let observed: ObservedReactor<Turns.ChainReactor>
    private let scope: ReactorObserving

    init(_ setup: SubjectSetup) throws {
      turns = Turns(setup)
      loop = try Loop(name: "observed")
      let observed = ObservedReactor(reactor: turns.reactor, on: .loop(loop))
      self.observed = observed
      scope = ReactorObserving(on: .loop(loop)) { _ = (observed.count, observed.sum) }
    }

    func produce(producer: Int, values: Range<UInt64>) { turns.produce(producer: producer, values: values) }

    func awaitTotals(_ quota: Quota) throws -> Totals {
      let totals = try turns.awaitTotals(quota)
      loop.shutdown()
      scope.dispose()
      // The last turn was shown before the loop ended.
      guard observed.state.totals == totals else { throw SubjectFailure("the newest state is not shown") }
      return totals
    }
  }

  /// Long turns of a reactor whose `state` has an observer.
  final class SubscribedTurnsSubject<State: SizedState>: FanInSubject {
    private let turns: LongTurnsSubject<State>
    private let subscription: any Disposable

    init(_ setup: SubjectSetup) {
      turns = LongTurnsSubject(setup)
      subscription = turns.reactor.state.subscribe(onNext: { _ in })
    }

    deinit { subscription.dispose() }

    func produce(producer: Int, values: Range<UInt64>) { turns.produce(producer: producer, values: values) }

    func awaitTotals(_ quota: Quota) throws -> Totals { try turns.awaitTotals(quota) }
  }

  extension Catalogue {
    /// What a changed property of an observed state costs: half of the difference to the plain state, since an action changes
    /// two. `plain-subscribed` is a plain state with an observer of `state`, as an observed reactor is one.
    static let observation: [Case] = [
      Case(
        "publish.observed", .synchronous,
        variants: [
          .subject("plain", SizedReactorSubject<SmallState, OnCaller>.self, hasOrder: false),
          .subject("observable", SizedReactorSubject<ObservableSmallState, OnCaller>.self, hasOrder: false),
          .subject("plain-long-turns", LongTurnsSubject<SmallState>.self, hasOrder: false),
          .subject("observable-long-turns", LongTurnsSubject<ObservableSmallState>.self, hasOrder: false),
          .subject("plain-subscribed-long-turns", SubscribedTurnsSubject<SmallState>.self, hasOrder: false),
          .subject("observed-long-turns", ObservedTurnsSubject.self, hasOrder: false),
        ])
    ]
  }
#else
  extension Catalogue {
    /// The toolchain cannot build the macro.
    static let observation: [Case] = []
  }
#endif
