/// Takes actions, and lets them be observed: ``Reactor/action``.
///
/// It ignores errors and ends. That of a reactor calls its observers as the reactor's owner, with each action
/// right before it goes through transform(action) and mutate, in the order in which actions are processed. It
/// does not retain the reactor, and does nothing once that is gone.
public final class ActionSubject<Element: Sendable>: ObservableType, ObserverType {
  @usableFromInline let send: @Sendable (Element) -> Void
  private let stream: Observable<Element>

  /// A subject on its own, which belongs to no reactor: what it is sent, it tells its observers.
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

  /// Sends an action; errors and ends are ignored. Any thread.
  @inlinable
  public func on(_ event: Event<Element>) {
    if case .next(let action) = event { send(action) }
  }

  public func asObservable() -> Observable<Element> { stream }
}
