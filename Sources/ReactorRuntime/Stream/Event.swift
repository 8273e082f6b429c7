/// What a stream delivers to its observers: elements, then at most one of the two stop events.
///
/// The grammar is that of Rx: any number of ``next(_:)``, then nothing, or ``error(_:)``, or ``completed``.
/// The observer of a subscription receives one event at a time, and each event happens before the next one.
public enum Event<Element: Sendable>: Sendable {
  /// An element.
  case next(Element)
  /// The stream has failed. Nothing follows.
  case error(any Error)
  /// The stream has ended without a failure. Nothing follows.
  case completed
}

extension Event {
  /// The element of a ``next(_:)``.
  @inlinable
  public var element: Element? { if case .next(let element) = self { element } else { nil } }

  /// The error of an ``error(_:)``.
  @inlinable
  public var error: (any Error)? { if case .error(let error) = self { error } else { nil } }

  /// Whether this is ``completed``.
  @inlinable
  public var isCompleted: Bool { if case .completed = self { true } else { false } }

  /// Whether nothing may follow.
  @inlinable
  public var isStopEvent: Bool { if case .next = self { false } else { true } }

  /// Returns the event with its element transformed; an error event if `transform` throws.
  @inlinable
  public func map<Result>(_ transform: (Element) throws -> Result) -> Event<Result> {
    switch self {
    case .next(let element):
      do { return .next(try transform(element)) } catch { return .error(error) }
    case .error(let error): return .error(error)
    case .completed: return .completed
    }
  }
}

extension Event: CustomStringConvertible {
  public var description: String {
    switch self {
    case .next(let element): "next(\(element))"
    case .error(let error): "error(\(error))"
    case .completed: "completed"
    }
  }
}

/// A receiver of events.
///
/// A conforming type documents which threads may call ``on(_:)``. Subjects and ``Observable/create(_:)``
/// accept events from any number of threads and pass them on one at a time. An observer that an operator
/// passes to its source relies on the source to do so.
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

  /// Receives the completion of the stream.
  @inlinable
  public func onCompleted() { on(.completed) }

  /// Returns this observer with its type erased.
  @inlinable
  public func asObserver() -> AnyObserver<Element> { AnyObserver(self) }
}

/// An observer whose type is erased.
public struct AnyObserver<Element: Sendable>: ObserverType {
  @usableFromInline let receive: @Sendable (Event<Element>) -> Void

  /// Creates an observer that calls a closure.
  @inlinable
  public init(eventHandler: @escaping @Sendable (Event<Element>) -> Void) { receive = eventHandler }

  /// Creates an observer that passes events on to another one.
  @inlinable
  public init(_ observer: some ObserverType<Element>) { receive = { observer.on($0) } }

  @inlinable
  public func on(_ event: Event<Element>) { receive(event) }

  @inlinable
  public func asObserver() -> AnyObserver<Element> { self }
}
