import ReactorCore

/// A subject that takes actions and lets them be observed: ``Reactor/action``.
///
/// It ignores errors and completions. The subject of a reactor calls its observers on the reactor's owner, with each
/// action right before it goes through transform(action) and mutate, in the order in which actions are processed. It
/// does not retain the reactor, and does nothing once the reactor is gone.
public final class ActionSubject<Element: Sendable>: ObservableType, ObserverType {
  @usableFromInline let send: @Sendable (Element) -> Void
  private let stream: Observable<Element>

  /// Makes a subject that belongs to no reactor, and emits what it is sent.
  public init() {
    let subject = PublishSubject<Element>()
    send = { subject.onNext($0) }
    stream = subject.asObservable()
  }

  init(send: @escaping @Sendable (Element) -> Void, stream: Observable<Element>) {
    self.send = send
    self.stream = stream
  }

  /// Sends an action. Any thread.
  @inlinable
  public func onNext(_ action: Element) { send(action) }

  /// Sends an action; ignores errors and completions. Any thread.
  @inlinable
  public func on(_ event: Event<Element>) {
    if case .next(let action) = event { send(action) }
  }

  /// Returns the stream of the actions. Any thread.
  public func asObservable() -> Observable<Element> { stream }
}
