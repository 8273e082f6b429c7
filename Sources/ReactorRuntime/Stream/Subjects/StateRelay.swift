/// A value whose changes are a stream that never ends. Who subscribes is told the value first.
///
/// Any thread may set and read it, subscribe and dispose. Observers are told each value that was set, equal
/// ones included, in the order of ``BehaviorSubject``.
public final class StateRelay<Element: Sendable>: ObservableType, ObserverType {
  private let core: SubjectCore<Element>

  /// A relay with its first value.
  public init(value: Element) { core = SubjectCore(RecentElements(limit: 1, [value])) }

  /// The last value that was set, even if the observers are yet to be told it. Any thread.
  ///
  /// Reading and setting are two steps: `relay.value += 1` on several threads loses some.
  public var value: Element {
    get {
      guard let last = core.last else { preconditionFailure("a relay has a value from the beginning") }
      return last
    }
    set { accept(newValue) }
  }

  /// Whether anybody is subscribed. Any thread; may be stale at once.
  public var hasObservers: Bool { core.hasObservers }

  /// Sets the value and tells the observers. Any thread.
  ///
  /// The value is set when this returns; if observers are being told something else, they are told it after
  /// that. Sleeps as ``PublishSubject/on(_:)`` does.
  public func accept(_ element: Element) { core.on(.next(element)) }

  /// Sets the value, so that a stream can be bound to this. Any thread.
  ///
  /// The end of such a stream is ignored; its failure goes to ``Hooks/defaultErrorHandler``.
  public func on(_ event: Event<Element>) {
    switch event {
    case .next(let element): accept(element)
    case .error(let error): Hooks.defaultErrorHandler(error)
    case .completed: break
    }
  }

  public func asObservable() -> Observable<Element> { core.stream }
}
