import ReactorCore
import Synchronization

/// A source from which only the owner of a reactor emits, in its turns: the actions, the mutations, the states.
///
/// Observers are added and removed by steps of the owner: at once if the owner itself subscribes, or the subscriber
/// finds the reactor idle; otherwise from the mailbox. So each observer gets what was sent after it subscribed, and no
/// lock is needed. Observers are called in the order in which they subscribed. The source does not retain the reactor.
@usableFromInline
final class OwnerMulticast<Element: Sendable>: Sendable {
  /// Runs a step as the owner, or does nothing if the reactor is gone.
  @usableFromInline typealias RunStep = @Sendable (_ step: Step, _ waitsForRoom: Bool) -> Void

  // Only the owner uses the next two.
  @usableFromInline let entries = OwnerList<Entry>()
  /// How many calls of ``emit(_:)`` the owner is inside of.
  @usableFromInline let depth = OwnerIsolated(0)
  /// Whether an observer may have been disposed of since the last sweep.
  @usableFromInline let mustSweep = Atomic(false)
  private let runStep: RunStep
  /// Returns what a new observer gets first. The owner.
  private let latest: @Sendable () -> Element?
  /// Returns what an observer gets that comes too late to be added. Any thread.
  private let last: @Sendable () -> Element?
  /// Called with true when the first observer is added, and with false when the last one is removed. The owner.
  @usableFromInline let onUse: @Sendable (Bool) -> Void

  @usableFromInline
  init(
    runStep: @escaping RunStep, latest: @escaping @Sendable () -> Element? = { nil },
    last: @escaping @Sendable () -> Element? = { nil },
    onUse: @escaping @Sendable (Bool) -> Void = { _ in }
  ) {
    self.runStep = runStep
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

  /// What the subscriber holds, and disposes of on any thread. It does not hold the observer, which holds it: so the
  /// observer goes away with the source, even if no thread disposes of this.
  @usableFromInline
  final class Subscription: Disposable {
    @usableFromInline let isDisposed = Atomic(false)
    private weak let source: OwnerMulticast?

    init(to source: OwnerMulticast) { self.source = source }

    // Relaxed: a thread that disposes while the owner emits cannot know which element was the last.
    @usableFromInline
    func dispose() {
      if !isDisposed.exchange(true, ordering: .relaxed) { source?.requestSweep() }
    }
  }

  /// The stream of what this source emits. Any thread may subscribe.
  @usableFromInline
  var observable: Observable<Element> {
    Observable { [self] observer in subscribe(observer) }
  }

  private func subscribe(_ observer: AnyObserver<Element>) -> any Disposable {
    let entry = Entry(observer, Subscription(to: self))
    runStep(
      Step({ [weak self] in self?.add(entry) }, orDiscard: { [weak self] in self?.reject(entry, $0) }), true)
    return entry.subscription
  }

  /// Adds an observer, and replays the latest element to it. The owner.
  private func add(_ entry: Entry) {
    if entry.isDisposed { return }
    if entries.count == 0 { onUse(true) }
    entries.append(entry)
    depth.value += 1
    replay(latest(), to: entry)
    depth.value -= 1
    sweepIfNeeded()
  }

  /// Handles an observer that is not added. If the reactor is closed, replays the last element, which none will follow.
  /// Any thread.
  private func reject(_ entry: Entry, _ reason: SendError?) {
    switch reason {
    case nil: break
    case .closed: replay(last(), to: entry)
    case let reason?: entry.observer.on(.error(reason))
    }
  }

  private func replay(_ element: Element?, to entry: Entry) {
    if let element, !entry.isDisposed { entry.observer.on(.next(element)) }
  }

  /// Emits an element to all observers. An observer that is added meanwhile gets the next element first. The owner.
  @inlinable
  func emit(_ element: Element) {
    depth.value += 1
    entries.forEach(first: entries.count) { entry in
      if !entry.isDisposed { entry.observer.on(.next(element)) }
    }
    depth.value -= 1
    if mustSweep.load(ordering: .relaxed) { sweepIfNeeded() }
  }

  /// Whether an observer is being called. The owner.
  @inlinable
  var isEmitting: Bool { depth.value > 0 }

  /// Makes the owner sweep. Any thread.
  private func requestSweep() {
    // Release: publishes the entry's flag to the owner that clears this one.
    if mustSweep.exchange(true, ordering: .releasing) { return }
    // If there is no room, the owner is busy and sweeps when it next emits. If the reactor is closed, it may never emit
    // again, so the flag is cleared, and the next disposal tries again.
    runStep(
      Step(
        { [weak self] in self?.sweepIfNeeded() },
        orDiscard: { [weak self] in if $0 == .closed { self?.mustSweep.store(false, ordering: .relaxed) } }),
      false)
  }

  /// Releases the observers that were disposed of. Does nothing inside of ``emit(_:)``, which counts through them, and
  /// sweeps at its end. The owner.
  @usableFromInline
  func sweepIfNeeded() {
    // Acquire: the other side of `requestSweep`.
    guard depth.value == 0, mustSweep.exchange(false, ordering: .acquiring) else { return }
    let count = entries.count
    entries.removeAll { $0.isDisposed }
    if count > 0, entries.count == 0 { onUse(false) }
  }

  /// Releases all observers. The runtime, when there is no owner any more.
  @usableFromInline
  func removeAll() { entries.removeAll { _ in true } }
}

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
