import Synchronization

/// Whether ``ObservableType/take(until:behavior:)`` and `take(while:behavior:)` send the element at which they end.
public enum TakeBehavior: Sendable {
  /// The element is sent.
  case inclusive
  /// The element is not sent.
  case exclusive
}

/// The beginning of a stream.
extension ObservableType {
  /// Passes on the first `count` elements, and completes with the last of them. With a count of 0 or less the
  /// result is empty, and this stream is not subscribed to.
  @inlinable
  public func take(_ count: Int) -> Observable<Element> {
    if count <= 0 { return .empty() }
    return lift(count) { sink, element in
      sink.state -= 1
      sink.next(element)
      if sink.state == 0 { sink.complete() }
    }
  }

  /// Passes on the elements up to the first for which `predicate` returns false, and completes there. Fails
  /// if it throws.
  @inlinable
  public func take(
    while predicate: @escaping @Sendable (Element) throws -> Bool, behavior: TakeBehavior = .exclusive
  ) -> Observable<Element> {
    take(until: { try !predicate($0) }, behavior: behavior)
  }

  /// Passes on the elements up to the first for which `predicate` returns true, and completes there. Fails if
  /// it throws.
  @inlinable
  public func take(
    until predicate: @escaping @Sendable (Element) throws -> Bool, behavior: TakeBehavior = .exclusive
  ) -> Observable<Element> {
    lift(()) { sink, element in
      let isLast = try predicate(element)
      if !isLast || behavior == .inclusive { sink.next(element) }
      if isLast { sink.complete() }
    }
  }

  /// Passes this stream on until `other` sends an element, and then completes: on the thread that sends it
  /// and before that send returns; or, if an element of this stream is being delivered, right after that.
  ///
  /// `other` is subscribed to first. The result fails if `other` fails, and goes on if `other` completes.
  @inlinable
  public func take(until other: some ObservableConvertibleType) -> Observable<Element> {
    let source = asObservable()
    let signal = other.asObservable()
    return Observable { observer in
      let scope = SupersedeScope()
      let serialized = SerializedSink(scope.wrap(observer))
      serialized.sources.insert(
        scope.hold(
          signal.run(
            AnyObserver { event in
              switch event {
              // Only the first element: while an element is being delivered, the completion is still queued.
              case .next: if scope.end() { serialized.on(.completed) }
              case .error(let error): serialized.on(.error(error))
              case .completed: break
              }
            })))
      if !serialized.sink.isOver { serialized.sources.insert(source.run(AnyObserver { serialized.on($0) })) }
      return serialized.sink
    }
  }
}

/// A stream without its beginning.
extension ObservableType {
  /// Leaves out the first `count` elements.
  @inlinable
  public func skip(_ count: Int) -> Observable<Element> {
    if count <= 0 { return asObservable() }
    return lift(count) { sink, element in
      if sink.state == 0 { sink.next(element) } else { sink.state -= 1 }
    }
  }

  /// Leaves out the elements before the first for which `predicate` returns false. Afterwards it is not
  /// called. Fails if it throws.
  @inlinable
  public func skip(
    while predicate: @escaping @Sendable (Element) throws -> Bool
  ) -> Observable<Element> {
    lift(true) { sink, element in
      if sink.state { sink.state = try predicate(element) }
      if !sink.state { sink.next(element) }
    }
  }

  /// Leaves out the elements that come before `other` has sent one. Fails if either stream fails, `other`
  /// only before its first element. Completes with this stream, if `other` has sent an element by then; otherwise nothing is
  /// sent, as in RxSwift.
  @inlinable
  public func skip(until other: some ObservableConvertibleType) -> Observable<Element> {
    let source = asObservable()
    let signal = other.asObservable()
    return Observable { observer in
      let serialized = SerializedSink(observer)
      let hasStarted = OneWayFlag()
      serialized.sources.insert(
        source.run(
          AnyObserver { event in
            if event.error != nil || hasStarted.isSet {
              serialized.on(event)
            } else if event.isCompleted {
              serialized.sink.dispose()
            }
          }))
      if serialized.sink.isOver { return serialized.sink }
      let waiting = SingleAssignmentDisposable()
      serialized.sources.insert(waiting)
      waiting.hold(
        signal.run(
          AnyObserver { event in
            switch event {
            case .next:
              hasStarted.set()
              waiting.dispose()
            // Not after its first element: if that comes during the subscription, the disposal does not end
            // the signal before the subscription has returned.
            case .error(let error): if !hasStarted.isSet { serialized.on(.error(error)) }
            case .completed: break
            }
          }))
      return serialized.sink
    }
  }
}

/// A flag that is set once.
@usableFromInline
final class OneWayFlag: Sendable {
  @usableFromInline let flag = Atomic(false)

  @inlinable
  init() {}

  /// Acquire: what the thread that set it did before happens before what follows.
  @inlinable
  var isSet: Bool { flag.load(ordering: .acquiring) }

  /// Release: the other side of `isSet`.
  @inlinable
  func set() { flag.store(true, ordering: .releasing) }
}
