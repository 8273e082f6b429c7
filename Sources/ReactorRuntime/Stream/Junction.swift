/// One subscription of an operator that puts several sources together: it handles what they send one at a
/// time, in the order in which it comes, with a state that nothing else touches.
struct Junction<State: Sendable, Input: Sendable, Element: Sendable>: Sendable {
  let sink: Sink<Element>
  /// What ends with the subscription.
  let sources = CompositeDisposable()
  private let drain: StatefulDrain<State, Input>

  /// - Parameter handle: Called with one input at a time, on any of the threads that bring them, until the
  ///   end.
  init(
    _ observer: AnyObserver<Element>, _ state: State,
    handle: @escaping @Sendable (Sink<Element>, inout State, Input) -> Void
  ) {
    let sink = Sink(observer)
    self.sink = sink
    drain = StatefulDrain(state) { state, input in if !sink.isOver { handle(sink, &state, input) } }
    // First, so that whoever sleeps in `submit` is awake when a source that waits for it is ended.
    sources.insert(drain)
    sink.hold(sources)
  }

  /// Brings an input. Any thread.
  func submit(_ input: Input) { drain.submit(input) }

  /// Subscribes to a source, unless all is over; its subscription ends with it, or with this one.
  func add<Source: Sendable>(
    _ source: Observable<Source>, _ input: @escaping @Sendable (Event<Source>) -> Input
  ) {
    if sink.isOver { return }
    sources.insert(source.run(AnyObserver { submit(input($0)) }))
  }
}
