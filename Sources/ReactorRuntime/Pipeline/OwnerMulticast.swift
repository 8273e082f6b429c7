import ReactorCore
import Synchronization

/// A source from which only the owner of a reactor emits, in its turns: the actions, the mutations, the
/// states.
///
/// Observers come and go as steps of the owner's: at once if the owner itself subscribes, or finds the
/// reactor idle; otherwise from the mailbox. So each gets what was sent after it subscribed, and no lock is
/// needed. Observers are called in the order in which they subscribed. The source does not retain the
/// reactor.
@usableFromInline
final class OwnerMulticast<Element: Sendable>: Sendable {
  /// Runs a step as the owner; nothing if the reactor is gone.
  @usableFromInline typealias Perform = @Sendable (_ step: Step, _ waitsForRoom: Bool) -> Void

  // The owner's.
  @usableFromInline let entries = OwnerList<Entry>()
  /// How many deliveries the owner is inside of.
  @usableFromInline let depth = OwnerIsolated(0)
  /// Whether one of the observers may have been disposed since they were last gone through.
  @usableFromInline let mustSweep = Atomic(false)
  private let perform: Perform
  /// What a new observer gets first. The owner.
  private let latest: @Sendable () -> Element?
  /// What one gets that comes too late to be added. Any thread.
  private let last: @Sendable () -> Element?
  /// Called when the first observer comes, with true, and when the last has gone. The owner.
  @usableFromInline let onUse: @Sendable (Bool) -> Void

  @usableFromInline
  init(
    perform: @escaping Perform, latest: @escaping @Sendable () -> Element? = { nil },
    last: @escaping @Sendable () -> Element? = { nil },
    onUse: @escaping @Sendable (Bool) -> Void = { _ in }
  ) {
    self.perform = perform
    self.latest = latest
    self.last = last
    self.onUse = onUse
  }

  /// One observer.
  @usableFromInline
  final class Entry: Sendable {
    @usableFromInline let observer: AnyObserver<Element>
    @usableFromInline let subscription: Subscription

    init(_ observer: AnyObserver<Element>, _ subscription: Subscription) {
      self.observer = observer
      self.subscription = subscription
    }

    @inlinable var isDisposed: Bool { subscription.isDisposed.load(ordering: .relaxed) }
  }

  /// What an observer's subscriber holds, and so does the observer itself; therefore not the observer, which
  /// goes away with the source even if nobody disposes this. Disposed from any thread.
  @usableFromInline
  final class Subscription: Disposable {
    @usableFromInline let isDisposed = Atomic(false)
    private weak let source: OwnerMulticast?

    init(to source: OwnerMulticast) { self.source = source }

    // Relaxed: whoever disposes on another thread cannot know how far the owner is.
    @usableFromInline
    func dispose() {
      if !isDisposed.exchange(true, ordering: .relaxed) { source?.sweepSoon() }
    }
  }

  /// The stream of what comes from here. Any thread may subscribe.
  @usableFromInline
  var observable: Observable<Element> {
    Observable { [self] observer in subscribe(observer) }
  }

  private func subscribe(_ observer: AnyObserver<Element>) -> any Disposable {
    let entry = Entry(observer, Subscription(to: self))
    perform(
      Step({ [weak self] in self?.add(entry) }, orLose: { [weak self] in self?.refuse(entry, $0) }), true)
    return entry.subscription
  }

  /// The owner.
  private func add(_ entry: Entry) {
    if entry.isDisposed { return }
    if entries.count == 0 { onUse(true) }
    entries.append(entry)
    depth.value += 1
    replay(latest(), to: entry)
    depth.value -= 1
    sweepIfNeeded()
  }

  /// Any thread. Of a reactor that is closed the last element is there to be had, but none will follow.
  private func refuse(_ entry: Entry, _ reason: SendError?) {
    switch reason {
    case nil: break
    case .closed: replay(last(), to: entry)
    case let reason?: entry.observer.on(.error(reason))
    }
  }

  private func replay(_ element: Element?, to entry: Entry) {
    if let element, !entry.isDisposed { entry.observer.on(.next(element)) }
  }

  /// Tells everybody. Who subscribes meanwhile gets the next element first. The owner.
  @inlinable
  func deliver(_ element: Element) {
    depth.value += 1
    entries.forEach(first: entries.count) { entry in
      if !entry.isDisposed { entry.observer.on(.next(element)) }
    }
    depth.value -= 1
    if mustSweep.load(ordering: .relaxed) { sweepIfNeeded() }
  }

  /// Whether an observer is being called. The owner.
  @inlinable
  var isDelivering: Bool { depth.value > 0 }

  private func sweepSoon() {
    // Release: the entry's flag, to the owner that takes this one.
    if mustSweep.exchange(true, ordering: .releasing) { return }
    // Without room there is much to do, and the owner sweeps at its next delivery. Once it is closed there
    // may be none, so the next to be disposed tries again.
    perform(
      Step(
        { [weak self] in self?.sweepIfNeeded() },
        orLose: { [weak self] in if $0 == .closed { self?.mustSweep.store(false, ordering: .relaxed) } }),
      false)
  }

  /// Lets go of observers that were disposed; inside a delivery only later, since that counts through them.
  @usableFromInline
  func sweepIfNeeded() {
    guard depth.value == 0, mustSweep.exchange(false, ordering: .acquiring) else { return }
    let count = entries.count
    entries.removeAll { $0.isDisposed }
    if count > 0, entries.count == 0 { onUse(false) }
  }

  /// Lets go of all observers. Nobody is the owner any more.
  @usableFromInline
  func removeAll() { entries.removeAll { _ in true } }
}

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
