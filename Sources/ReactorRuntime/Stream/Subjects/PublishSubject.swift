/// A stream that one speaks into: whatever it is told, it tells those who are subscribed.
///
/// Any thread may tell it events, subscribe and dispose. All observers are told the same events in the same
/// order, one at a time, in the order in which they subscribed, and while no lock is held. What an observer
/// or another thread brings during a delivery comes after it: ``on(_:)`` then returns before it is delivered.
///
/// After a stop event it is told nothing more, and who subscribes is told that event.
public final class PublishSubject<Element: Sendable>: ObservableType, ObserverType {
  private let core = SubjectCore<Element>(RecentElements(limit: 0))

  public init() {}

  /// Whether anybody is subscribed. Any thread; may be stale at once.
  public var hasObservers: Bool { core.hasObservers }

  /// Tells the observers an event. Any thread.
  ///
  /// Sleeps if more than a thousand events wait that others have brought during a delivery, unless it would
  /// wait for itself.
  public func on(_ event: Event<Element>) { core.on(event) }

  public func asObservable() -> Observable<Element> { core.stream }
}
