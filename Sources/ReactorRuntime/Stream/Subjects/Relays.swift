/// A subject that never ends: it delivers each element that it accepts to its observers.
///
/// Any thread may call ``accept(_:)``, subscribe and dispose; see ``PublishSubject`` for the order of elements.
public final class PublishRelay<Element: Sendable>: ObservableType, ObserverType {
  @usableFromInline let core = SubjectCore<Element>(RecentElements(limit: 0))

  @inlinable
  public init() {}

  /// Whether there is an observer. Any thread; may be stale at once.
  @inlinable
  public var hasObservers: Bool { core.hasObservers }

  /// Delivers an element to the observers. Any thread. O(n) in the number of observers. Blocks as
  /// ``PublishSubject/on(_:)`` does.
  @inlinable
  public func accept(_ element: Element) { core.on(.next(element)) }

  /// Accepts an element, so that a stream can be bound to this. Any thread.
  ///
  /// The completion of such a stream is ignored. Its error is passed to ``Hooks/defaultErrorHandler``.
  @inlinable
  public func on(_ event: Event<Element>) { event.pass(to: accept) }

  @inlinable
  public func asObservable() -> Observable<Element> { core.stream }
}

/// A subject that never ends, and that replays its last elements to a new observer.
///
/// Any thread may call ``accept(_:)``, subscribe and dispose; see ``PublishSubject`` for the order of elements, and
/// ``BehaviorSubject`` for that of subscriptions. It keeps a number of elements that is chosen when it is created; RxSwift's
/// `createUnbound` has no counterpart, since it is never released.
public final class ReplayRelay<Element: Sendable>: ObservableType, ObserverType {
  @usableFromInline let core: SubjectCore<Element>

  @inlinable
  init(_ core: SubjectCore<Element>) { self.core = core }

  /// Creates a relay that keeps the last `bufferSize` elements.
  ///
  /// - Precondition: `bufferSize` is not negative.
  @inlinable
  public static func create(bufferSize: Int) -> ReplayRelay {
    guard bufferSize >= 0 else { fatalError("a replay relay keeps no negative number of elements") }
    return ReplayRelay(SubjectCore(RecentElements(limit: bufferSize)))
  }

  /// Whether there is an observer. Any thread; may be stale at once.
  @inlinable
  public var hasObservers: Bool { core.hasObservers }

  /// Delivers an element to the observers, and keeps it. Any thread. O(n) in the number of observers. Blocks as
  /// ``PublishSubject/on(_:)`` does.
  @inlinable
  public func accept(_ element: Element) { core.on(.next(element)) }

  /// Accepts an element, so that a stream can be bound to this. Any thread.
  ///
  /// The completion of such a stream is ignored. Its error is passed to ``Hooks/defaultErrorHandler``.
  @inlinable
  public func on(_ event: Event<Element>) { event.pass(to: accept) }

  @inlinable
  public func asObservable() -> Observable<Element> { core.stream }
}

extension Event {
  /// What a relay does with an event: it has no stop events.
  @inlinable
  func pass(to accept: (Element) -> Void) {
    switch self {
    case .next(let element): accept(element)
    case .error(let error): Hooks.defaultErrorHandler(error)
    case .completed: break
    }
  }
}
