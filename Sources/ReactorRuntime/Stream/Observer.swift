/// Who receives events.
///
/// What conforms says itself which threads may call ``on(_:)``: subjects and ``Observable/create(_:)`` take
/// events from any number of threads and pass them on one at a time; what an operator hands to its source
/// relies on the source's doing so.
public protocol ObserverType<Element>: Sendable {
  associatedtype Element: Sendable

  /// Receives one event.
  func on(_ event: Event<Element>)
}

extension ObserverType {
  /// Receives an element.
  @inlinable
  public func onNext(_ element: Element) { on(.next(element)) }

  /// Receives the failure of the stream.
  @inlinable
  public func onError(_ error: any Error) { on(.error(error)) }

  /// Receives the good end of the stream.
  @inlinable
  public func onCompleted() { on(.completed) }

  /// This observer, its type forgotten.
  @inlinable
  public func asObserver() -> AnyObserver<Element> { AnyObserver(self) }
}

/// An observer of whatever type.
public struct AnyObserver<Element: Sendable>: ObserverType {
  @usableFromInline let receive: @Sendable (Event<Element>) -> Void

  /// An observer that calls a closure.
  @inlinable
  public init(eventHandler: @escaping @Sendable (Event<Element>) -> Void) { receive = eventHandler }

  /// Another observer, its type forgotten.
  @inlinable
  public init(_ observer: some ObserverType<Element>) { receive = { observer.on($0) } }

  @inlinable
  public func on(_ event: Event<Element>) { receive(event) }

  @inlinable
  public func asObserver() -> AnyObserver<Element> { self }
}
