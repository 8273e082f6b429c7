import ReactorCore
import Synchronization

/// A source from which only the owner of a reactor emits, in its turns: the actions, the mutations, the states.
///
/// Observers are added and removed by steps of the owner: at once if the owner itself subscribes, or the subscriber
/// finds the reactor idle; otherwise from the mailbox. So each observer gets what was sent after it subscribed, and no
/// lock is needed. Observers are called in the order in which they subscribed. The source does not retain the reactor.
@usableFromInline
final class OwnerMulticast<Element: Sendable>: Sendable {
  /// Whether the observers receive a completion when the reactor has ended, and those that come later as well. Release
  /// and acquire: set before the reactor is closed, and read by observers that are rejected because it is.
  @usableFromInline let completesAtEnd = Atomic(false)
  /// Runs a step as the owner, or does nothing if the reactor is gone.
  @usableFromInline typealias RunStep = @Sendable (_ step: Step, _ waitsForRoom: Bool) -> Void

  // Only the owner uses the next two.
  @usableFromInline let entries = OwnerList<Entry>()
  /// How many calls of ``emit(_:)`` the owner is inside of.
  @usableFromInline let depth = OwnerIsolated(0)
  /// Whether an observer may have been disposed of since the last sweep.
  @usableFromInline let mustSweep = Atomic(false)
  private let runStep: RunStep
  /// Makes the owner sweep although `runStep` has refused a step that does so. Any thread.
  private let requestSweep: @Sendable () -> Void
  /// Returns what a new observer gets first. The owner.
  private let latest: @Sendable () -> Element?
  /// Returns what an observer gets that comes too late to be added. Any thread.
  private let last: @Sendable () -> Element?
  /// Called with true when the first observer is added, and with false when the last one is removed. The owner.
  @usableFromInline let onUse: @Sendable (Bool) -> Void

  @usableFromInline
  init(
    runStep: @escaping RunStep, requestSweep: @escaping @Sendable () -> Void,
    latest: @escaping @Sendable () -> Element? = { nil },
    last: @escaping @Sendable () -> Element? = { nil },
    onUse: @escaping @Sendable (Bool) -> Void = { _ in }
  ) {
    self.runStep = runStep
    self.requestSweep = requestSweep
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

  /// What the subscriber holds, and disposes of on any thread. It does not hold the observer, which holds it: so an
  /// observer that subscribes to the source itself goes away with it, even if no thread disposes of this. With an operator
  /// between them, the operator's subscription and its observer hold each other until the end or the disposal.
  @usableFromInline
  final class Subscription: Disposable {
    @usableFromInline let isDisposed = Atomic(false)
    private weak let source: OwnerMulticast?

    init(to source: OwnerMulticast) { self.source = source }

    // Relaxed: a thread that disposes while the owner emits cannot know which element was the last.
    @usableFromInline
    func dispose() {
      if !isDisposed.exchange(true, ordering: .relaxed) { source?.enqueueSweep() }
    }
  }

  /// The stream of what this source emits. Any thread may subscribe.
  @usableFromInline
  var observable: Observable<Element> {
    Observable(identity: self) { [self] observer in subscribe(observer) }
  }

  /// Subscribes to ``observable``. Any thread.
  @usableFromInline
  func subscribe(_ observer: AnyObserver<Element>) -> any Disposable {
    let entry = Entry(observer, Subscription(to: self))
    runStep(
      Step({ [weak self] in self?.add(entry) }, orDiscard: { [weak self] in self?.reject(entry, $0) }), true)
    return entry.subscription
  }

  /// Adds an observer, and replays the latest element to it. The owner.
  private func add(_ entry: Entry) {
    if entry.isDisposed { return }
    if completesAtEnd.load(ordering: .acquiring) {
      replay(latest(), to: entry)
      return complete(entry)
    }
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
    case .closed:
      replay(last(), to: entry)
      if completesAtEnd.load(ordering: .acquiring) { complete(entry) }
    case let reason?: entry.observer.on(.error(reason))
    }
  }

  private func replay(_ element: Element?, to entry: Entry) {
    if let element, !entry.isDisposed { entry.observer.on(.next(element)) }
  }

  private func complete(_ entry: Entry) {
    // Disposed of at the same time, so that the subscriber's disposal needs no step.
    if !entry.subscription.isDisposed.exchange(true, ordering: .relaxed) { entry.observer.on(.completed) }
  }

  /// Completes the observers, if they are to be. The owner, when nothing will be emitted any more.
  func completeIfNeeded() {
    guard completesAtEnd.load(ordering: .acquiring) else { return }
    depth.value += 1
    entries.forEach(first: entries.count) { complete($0) }
    depth.value -= 1
    removeAll()
  }

  /// Emits an element to all observers. An observer that is added meanwhile gets the next element first. The owner.
  @inlinable
  func emit(_ element: consuming Element) {
    // One event for all observers, since each copy of an element counts its references.
    let event = Event.next(element)
    depth.value += 1
    entries.forEach(first: entries.count) { entry in
      if !entry.isDisposed { entry.observer.on(event) }
    }
    depth.value -= 1
    if mustSweep.load(ordering: .relaxed) { sweepIfNeeded() }
  }

  /// Whether an observer is being called. The owner.
  @inlinable
  var isEmitting: Bool { depth.value > 0 }

  /// Makes the owner sweep. Any thread.
  private func enqueueSweep() {
    // Release: publishes the entry's flag to the owner that clears this one.
    if mustSweep.exchange(true, ordering: .releasing) { return }
    // The step can be refused: the mailbox is full, or closed, and nothing else may ever come. If the reactor is gone
    // (nil), the observers go away with it.
    runStep(
      Step(
        { [weak self] in self?.sweepIfNeeded() },
        orDiscard: { [requestSweep] in if $0 != nil { requestSweep() } }),
      false)
  }

  /// Releases the observers that were disposed of. Does nothing inside of ``emit(_:)``, which counts through them, and
  /// sweeps at its end. The owner.
  @usableFromInline
  func sweepIfNeeded() {
    // Acquire: the other side of `enqueueSweep`.
    guard depth.value == 0, mustSweep.exchange(false, ordering: .acquiring) else { return }
    let count = entries.count
    entries.removeAll { $0.isDisposed }
    if count > 0, entries.count == 0 { onUse(false) }
  }

  /// Releases all observers. The runtime, when there is no owner any more.
  @usableFromInline
  func removeAll() { entries.removeAll { _ in true } }
}
