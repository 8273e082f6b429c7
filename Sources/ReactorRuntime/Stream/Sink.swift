import Synchronization

/// One subscription of an operator: passes events on to its observer until a stop event or its disposal, and
/// then ends the subscription that it stands on.
///
/// Its source calls it serially, so it only passes on; see ``StatefulDrain`` for operators with several sources.
@usableFromInline
class Sink<Element: Sendable>: SingleAssignmentDisposable, @unchecked Sendable {
  // Unchecked: as the class above; what is added is constant.
  @usableFromInline final let observer: AnyObserver<Element>

  @inlinable
  init(_ observer: AnyObserver<Element>) {
    self.observer = observer
    super.init()
  }

  @inlinable
  final func next(_ element: Element) {
    if !isOver { observer.on(.next(element)) }
  }

  /// Passes the stop event on, unless there was one, and ends the subscription. Never runs for an element.
  @inlinable
  final func stop(_ event: Event<Element>) {
    pass(stop: event)
    dispose()
  }

  /// Passes the stop event on, unless there was one, and leaves it to the caller to end the subscription.
  @inlinable
  final func pass(stop event: Event<Element>) {
    if admits(event) { observer.on(event) }
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

/// A sink that keeps something from element to element.
@usableFromInline
final class StatefulSink<Element: Sendable, State: Sendable>: Sink<Element>, @unchecked Sendable {
  // Unchecked: only the source's calls touch `state`, and they come one after the other.
  // No check of exclusive access, for the same reason.
  @exclusivity(unchecked) @usableFromInline var state: State

  @inlinable
  init(_ observer: AnyObserver<Element>, _ state: State) {
    self.state = state
    super.init(observer)
  }
}
