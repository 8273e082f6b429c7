/// A stream that one speaks into, and that tells its last elements to who subscribes, also after its end.
///
/// Any thread may tell it events, subscribe and dispose; see ``PublishSubject`` for the order of events, and
/// ``BehaviorSubject`` for that of subscriptions.
public final class ReplaySubject<Element: Sendable>: ObservableType, ObserverType {
  private let core: SubjectCore<Element>

  private init(_ core: SubjectCore<Element>) { self.core = core }

  /// A subject that keeps the last `bufferSize` elements.
  ///
  /// - Precondition: `bufferSize` is not negative.
  public static func create(bufferSize: Int) -> ReplaySubject {
    precondition(bufferSize >= 0, "a replay subject keeps no negative number of elements")
    return ReplaySubject(SubjectCore(RecentElements(limit: bufferSize), replaysAfterEnd: true))
  }

  /// Whether anybody is subscribed. Any thread; may be stale at once.
  public var hasObservers: Bool { core.hasObservers }

  /// Tells the observers an event. Any thread. Sleeps as ``PublishSubject/on(_:)`` does.
  public func on(_ event: Event<Element>) { core.on(event) }

  public func asObservable() -> Observable<Element> { core.stream }
}
