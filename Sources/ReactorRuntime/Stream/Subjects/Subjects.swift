/// An observer that is also a stream: it delivers each event that it receives to its observers.
///
/// Any thread may call ``on(_:)``, subscribe and dispose. All observers receive the same events in the same
/// order, one at a time, in the order in which they subscribed, and while no lock is held. An event that an
/// observer or another thread brings during a delivery is delivered after it; ``on(_:)`` then returns before
/// that.
///
/// After a stop event further events are ignored, and a new observer receives the stop event.
public final class PublishSubject<Element: Sendable>: ObservableType, ObserverType {
  @usableFromInline let core = SubjectCore<Element>(RecentElements(limit: 0))

  @inlinable
  public init() {}

  /// Whether there is an observer. Any thread; may be stale at once.
  @inlinable
  public var hasObservers: Bool { core.hasObservers }

  /// Delivers an event to the observers. Any thread. O(n) in the number of observers.
  ///
  /// Blocks while more than 1024 events wait that were brought during a delivery, unless this runtime's own waits would
  /// form a cycle. So do not call it while you hold a lock that an observer takes.
  @inlinable
  public func on(_ event: Event<Element>) { core.on(event) }

  @inlinable
  public func asObservable() -> Observable<Element> { core.stream }
}

/// A subject with a value: its last element, which a new observer receives first.
///
/// Any thread may call ``on(_:)``, read the value, subscribe and dispose; see ``PublishSubject`` for the
/// order of events. A new observer receives the value before the subscription returns, and then each later
/// element, none of them twice and none left out, whatever other threads do.
///
/// After a stop event further events are ignored, and a new observer receives only the stop event.
public final class BehaviorSubject<Element: Sendable>: ObservableType, ObserverType {
  @usableFromInline let core: SubjectCore<Element>

  /// Creates a subject with its first value.
  @inlinable
  public init(value: Element) { core = SubjectCore(RecentElements(limit: 1, [value])) }

  /// Whether there is an observer. Any thread; may be stale at once.
  @inlinable
  public var hasObservers: Bool { core.hasObservers }

  /// Returns the last element, even if its observers have not received it yet. Any thread.
  ///
  /// - Throws: The error that has ended the subject, if there was one.
  @inlinable
  public func value() throws -> Element {
    let (last, stopEvent) = core.lastAndStopEvent
    if let error = stopEvent?.error { throw error }
    guard let last else { preconditionFailure("a behavior subject has a value from the beginning") }
    return last
  }

  /// Sets the value and delivers it to the observers. Any thread. O(n) in the number of observers.
  ///
  /// The value is set when this returns. If a delivery is running, the observers receive the value after it.
  /// Blocks as ``PublishSubject/on(_:)`` does.
  @inlinable
  public func on(_ event: Event<Element>) { core.on(event) }

  @inlinable
  public func asObservable() -> Observable<Element> { core.stream }
}

/// A subject that replays its last elements to a new observer, also after its end.
///
/// Any thread may call ``on(_:)``, subscribe and dispose; see ``PublishSubject`` for the order of events, and
/// ``BehaviorSubject`` for that of subscriptions.
public final class ReplaySubject<Element: Sendable>: ObservableType, ObserverType {
  @usableFromInline let core: SubjectCore<Element>

  @inlinable
  init(_ core: SubjectCore<Element>) { self.core = core }

  /// Creates a subject that keeps the last `bufferSize` elements.
  ///
  /// - Precondition: `bufferSize` is not negative.
  @inlinable
  public static func create(bufferSize: Int) -> ReplaySubject {
    guard bufferSize >= 0 else { fatalError("a replay subject keeps no negative number of elements") }
    return ReplaySubject(SubjectCore(RecentElements(limit: bufferSize), replaysAfterEnd: true))
  }

  /// Whether there is an observer. Any thread; may be stale at once.
  @inlinable
  public var hasObservers: Bool { core.hasObservers }

  /// Delivers an event to the observers. Any thread. O(n) in the number of observers. Blocks as
  /// ``PublishSubject/on(_:)`` does.
  @inlinable
  public func on(_ event: Event<Element>) { core.on(event) }

  @inlinable
  public func asObservable() -> Observable<Element> { core.stream }
}

/// A value whose changes are a stream that never ends. A new observer receives the value first.
///
/// Any thread may set and read the value, subscribe and dispose. Observers receive each value that was set,
/// equal ones included, in the order of ``BehaviorSubject``.
public final class StateRelay<Element: Sendable>: ObservableType, ObserverType {
  @usableFromInline let core: SubjectCore<Element>

  /// Creates a relay with its first value.
  @inlinable
  public init(value: Element) { core = SubjectCore(RecentElements(limit: 1, [value])) }

  /// The last value that was set, even if the observers have not received it yet. Any thread.
  ///
  /// Reading and setting are two steps: `relay.value += 1` on several threads loses increments.
  @inlinable
  public var value: Element {
    get {
      guard let last = core.last else { preconditionFailure("a relay has a value from the beginning") }
      return last
    }
    set { accept(newValue) }
  }

  /// Whether there is an observer. Any thread; may be stale at once.
  @inlinable
  public var hasObservers: Bool { core.hasObservers }

  /// Sets the value and delivers it to the observers. Any thread. O(n) in the number of observers.
  ///
  /// The value is set when this returns. If a delivery is running, the observers receive the value after it.
  /// Blocks as ``PublishSubject/on(_:)`` does.
  @inlinable
  public func accept(_ element: Element) { core.on(.next(element)) }

  /// Sets the value, so that a stream can be bound to this. Any thread.
  ///
  /// The completion of such a stream is ignored. Its error is passed to ``Hooks/defaultErrorHandler``.
  @inlinable
  public func on(_ event: Event<Element>) { event.pass(to: accept) }

  @inlinable
  public func asObservable() -> Observable<Element> { core.stream }
}
