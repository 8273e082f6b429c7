/// A stream that one speaks into, and that has a value: the last element. Who subscribes is told that first.
///
/// Any thread may tell it events, read the value, subscribe and dispose; see ``PublishSubject`` for the order
/// of events. Who subscribes is told the value before the subscription returns, and then each later element,
/// none of them twice and none left out, whatever other threads do.
///
/// After a stop event it is told nothing more, and who subscribes is told that event only.
public final class BehaviorSubject<Element: Sendable>: ObservableType, ObserverType {
  private let core: SubjectCore<Element>

  /// A subject with its first value.
  public init(value: Element) { core = SubjectCore(RecentElements(limit: 1, [value])) }

  /// Whether anybody is subscribed. Any thread; may be stale at once.
  public var hasObservers: Bool { core.hasObservers }

  /// The last element that it was told, even if its observers are yet to be told it. Any thread.
  ///
  /// - Throws: The error that has ended it, if there was one.
  public func value() throws -> Element {
    let (last, stopEvent) = core.lastAndStopEvent
    if let error = stopEvent?.error { throw error }
    guard let last else { preconditionFailure("a behavior subject has a value from the beginning") }
    return last
  }

  /// Sets the value and tells the observers. Any thread.
  ///
  /// The value is set when this returns; if observers are being told something else, they are told it after
  /// that. Sleeps as ``PublishSubject/on(_:)`` does.
  public func on(_ event: Event<Element>) { core.on(event) }

  public func asObservable() -> Observable<Element> { core.stream }
}
