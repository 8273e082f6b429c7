import Synchronization

// What operators are made of. An operator with one source is a `Sink`, or `lift(_:_:)` if it only concerns
// elements. An operator with several sources is a `MultiSourceSink`.

/// One subscription of an operator with one source: passes events on to its observer until a stop event or
/// its disposal, and then disposes of the subscription to the source.
///
/// The source calls it serially, so there is nothing to protect.
@usableFromInline
class Sink<Element: Sendable>: SingleAssignmentDisposable, @unchecked Sendable {
  // Unchecked: as the class above; what is added is constant.
  @usableFromInline final let observer: AnyObserver<Element>

  @inlinable
  init(_ observer: AnyObserver<Element>) {
    self.observer = observer
    super.init()
  }

  /// Passes an element on, unless this subscription is over.
  @inlinable
  final func next(_ element: Element) {
    if !isOver { observer.on(.next(element)) }
  }

  /// Passes a stop event on, unless there was one, and disposes of the subscription to the source. Never
  /// called with an element.
  @inlinable
  final func stop(_ event: Event<Element>) {
    pass(stop: event)
    dispose()
  }

  /// Passes a stop event on, unless there was one, and leaves the disposal to the caller.
  @inlinable
  final func pass(stop event: Event<Element>) {
    if tryPass(event) { observer.on(event) }
  }

  @inlinable
  final func fail(_ error: any Error) { stop(.error(error)) }

  @inlinable
  final func complete() { stop(.completed) }

  @inlinable
  final func on(_ event: Event<Element>) {
    if case .next(let element) = event { next(element) } else { stop(event) }
  }
}

/// A sink that keeps a state from element to element.
@usableFromInline
final class StatefulSink<Element: Sendable, State: Sendable>: Sink<Element>, @unchecked Sendable {
  // Unchecked: only the source's calls touch `state`, and they come one after the other. For the same reason
  // there is no check of exclusive access.
  @exclusivity(unchecked) @usableFromInline var state: State

  @inlinable
  init(_ observer: AnyObserver<Element>, _ state: State) {
    self.state = state
    super.init(observer)
  }
}

extension ObservableType {
  /// Makes an operator with one source that only concerns elements.
  ///
  /// - Parameters:
  ///   - initial: The state of each new subscription.
  ///   - next: Called with each element, and with the sink to which to pass on what becomes of it. If it
  ///     throws, the result fails with that error. Stop events are passed on.
  @inlinable
  @inline(__always)
  func lift<Result, State>(
    _ initial: State, _ next: @escaping @Sendable (StatefulSink<Result, State>, Element) throws -> Void
  ) -> Observable<Result> {
    let source = asObservable()
    return Observable<Result> { observer in
      let sink = StatefulSink<Result, State>(observer, initial)
      sink.hold(
        source.run(
          AnyObserver { event in
            switch event {
            case .next(let element):
              if sink.isOver { return }
              do { try next(sink, element) } catch { sink.fail(error) }
            case .error(let error): sink.fail(error)
            case .completed: sink.complete()
            }
          }))
      return sink
    }
  }

  /// As ``lift(_:_:)``, for an operator that also sends something when the source completes.
  ///
  /// - Parameter atEnd: Called when the source has completed, before the completion is passed on. If it throws, the
  ///   result fails with that error.
  func lift<Result, State>(
    _ initial: State, _ next: @escaping @Sendable (StatefulSink<Result, State>, Element) throws -> Void,
    atEnd: @escaping @Sendable (StatefulSink<Result, State>) throws -> Void
  ) -> Observable<Result> {
    let source = asObservable()
    return Observable<Result> { observer in
      let sink = StatefulSink<Result, State>(observer, initial)
      sink.hold(
        source.run(
          AnyObserver { event in
            if sink.isOver { return }
            do {
              switch event {
              case .next(let element): try next(sink, element)
              case .error(let error): sink.fail(error)
              case .completed:
                try atEnd(sink)
                sink.complete()
              }
            } catch { sink.fail(error) }
          }))
      return sink
    }
  }
}

/// One subscription of an operator with several sources: handles what they send one input at a time, in the
/// order of arrival, with a state that nothing else touches.
@usableFromInline
struct MultiSourceSink<State: Sendable, Input: Sendable, Element: Sendable>: Sendable {
  @usableFromInline let sink: Sink<Element>
  /// What ends with the subscription.
  @usableFromInline let sources = CompositeDisposable()
  @usableFromInline let drain: StatefulDrain<State, Input>

  /// - Parameter handle: Called with one input at a time, on any of the threads that bring them, until the
  ///   subscription is over.
  @inlinable
  init(
    _ observer: AnyObserver<Element>, _ state: State,
    handle: @escaping @Sendable (Sink<Element>, inout State, Input) -> Void
  ) {
    let sink = Sink(observer)
    self.sink = sink
    drain = StatefulDrain(state) { state, input in if !sink.isOver { handle(sink, &state, input) } }
    // Disposed of first: this releases a thread blocked in `submit`, for which disposing of its source may
    // wait.
    sources.insert(drain)
    sink.hold(sources)
  }

  /// Handles an input, or leaves it to the thread that is handling another. Any thread.
  @inlinable
  func submit(_ input: Input) { drain.submit(input) }

  /// Subscribes to a source, unless the subscription is over. The source ends with it.
  @inlinable
  func add<Source: Sendable>(
    _ source: Observable<Source>, _ input: @escaping @Sendable (Event<Source>) -> Input
  ) {
    if sink.isOver { return }
    sources.insert(source.run(AnyObserver { submit(input($0)) }))
  }

  /// As ``add(_:_:)``, but disposes of the subscription to the source before its stop event is handled, where RxSwift does so. A
  /// stream that begins because of the event can tell, if it shares a source with this one.
  @inlinable
  func addEndingFirst<Source: Sendable>(
    _ source: Observable<Source>, _ input: @escaping @Sendable (Event<Source>) -> Input
  ) {
    let subscription = SingleAssignmentDisposable()
    guard let key = sources.insert(subscription) else { return }
    subscription.hold(
      source.run(
        AnyObserver { event in
          if event.isStopEvent { sources.remove(for: key) }
          submit(input(event))
        }))
  }
}

/// One subscription that receives its events from several threads or sources, and passes them on one at a
/// time, in the order of arrival.
@usableFromInline
struct SerializedSink<Element: Sendable>: Sendable {
  @usableFromInline let inputs: MultiSourceSink<Void, Event<Element>, Element>

  @inlinable
  init(_ observer: AnyObserver<Element>) {
    inputs = MultiSourceSink(observer, ()) { sink, _, event in sink.on(event) }
  }

  @inlinable
  var sink: Sink<Element> { inputs.sink }

  /// What ends with the subscription: everything that calls ``on(_:)``.
  @inlinable
  var sources: CompositeDisposable { inputs.sources }

  /// Passes an event on, or leaves that to the thread that is passing on another. Any thread.
  @inlinable
  func on(_ event: Event<Element>) {
    if !sink.isOver { inputs.submit(event) }
  }
}
