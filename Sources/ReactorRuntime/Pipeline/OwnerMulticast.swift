import ReactorCore
import Synchronization

/// Which observers the owner of an ``OwnerMulticast`` has to remove. One that is disposed of alone is removed in O(log n), by a step
/// that knows it: so thousands may leave one after the other. What is disposed of while that step waits gets no step of its own, so
/// that at most one is in the mailbox; then all observers are looked at.
@usableFromInline
enum Disposals {
  @inlinable static var none: UInt8 { 0 }
  /// A step that removes one observer waits. Only the step itself clears this, or its refusal.
  @inlinable static var one: UInt8 { 1 }
  /// An observer was disposed of that no step knows.
  @inlinable static var more: UInt8 { 2 }
  /// Observers were disposed of inside of a call of an observer: see `Calls.leaving`.
  @inlinable static var afterCalls: UInt8 { 4 }
}

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

  /// What the owner is inside of.
  @usableFromInline
  struct Calls: Sendable {
    /// How many calls of observers it is inside of.
    @usableFromInline var depth = 0
    /// The observers that were disposed of there, and are removed afterwards.
    var leaving: [Subscription] = []
  }

  // Only the owner uses the next two.
  @usableFromInline let entries = OwnerList<Entry>()
  @usableFromInline let calls = OwnerIsolated(Calls())
  /// Whether observers were disposed of that are still here: see ``Disposals``.
  @usableFromInline let disposals = Atomic(Disposals.none)
  private let runStep: RunStep
  /// Makes the owner call ``removeDisposed()`` although `runStep` has refused a step that removes an observer. Any thread.
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
    /// Names the observer in the list of the source. Relaxed: only the owner uses it.
    let key = Atomic(OwnerListKey.none)
    private weak let source: OwnerMulticast?

    init(to source: OwnerMulticast) { self.source = source }

    // Relaxed: a thread that disposes while the owner emits cannot know which element was the last.
    @usableFromInline
    func dispose() {
      if !isDisposed.exchange(true, ordering: .relaxed) { source?.enqueueRemoval(of: self) }
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
      ClosureStep({ [weak self] in self?.add(entry) }, orDiscard: { [weak self] in self?.reject(entry, $0) }),
      true)
    return entry.subscription
  }

  /// Adds an observer, and replays the latest element to it. The owner.
  private func add(_ entry: Entry) {
    if entry.isDisposed { return }
    if completesAtEnd.load(ordering: .acquiring) {
      replay(latest(), to: entry)
      return complete(entry)
    }
    if entries.isEmpty { onUse(true) }
    entry.subscription.key.store(entries.append(entry), ordering: .relaxed)
    calls.value.depth += 1
    replay(latest(), to: entry)
    calls.value.depth -= 1
    removeAfterCalls()
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
    calls.value.depth += 1
    entries.visit { complete($0) }
    calls.value.depth -= 1
    removeAfterCalls()
    removeAll()
  }

  /// Emits an element to all observers. An observer that is added meanwhile gets the next element first. The owner.
  @inlinable
  func emit(_ element: consuming Element) {
    // One event for all observers, since each copy of an element counts its references.
    let event = Event.next(element)
    calls.value.depth += 1
    entries.visit { entry in
      if !entry.isDisposed { entry.observer.on(event) }
    }
    calls.value.depth -= 1
    removeAfterCalls()
  }

  /// Whether an observer is being called. The owner.
  @inlinable
  var isEmitting: Bool { calls.value.depth > 0 }

  // MARK: Removing

  /// Makes the owner release an observer that was disposed of. Any thread.
  private func enqueueRemoval(of subscription: Subscription) {
    // Release: publishes the entry's flag to the owner that clears these.
    if disposals.bitwiseOr(Disposals.one, ordering: .releasing).oldValue & Disposals.one != 0 {
      // `more` makes the step that waits look at all observers. If that step has just run, this one needs a step of its own.
      let both = Disposals.one | Disposals.more
      if disposals.bitwiseOr(both, ordering: .releasing).oldValue & Disposals.one != 0 { return }
    }
    runStep(
      ClosureStep(
        { [weak self] in self?.remove(subscription) },
        orDiscard: { [weak self, requestSweep] reason in
          // If the reactor is gone, the observers go away with it.
          if reason == nil { return }
          // The mailbox is full, or closed, and nothing else may ever come. Release: as above. `one` is cleared afterwards, so that
          // what is disposed of in between is found by the sweep that is requested then.
          self?.disposals.bitwiseOr(Disposals.more, ordering: .releasing)
          self?.disposals.bitwiseAnd(~Disposals.one, ordering: .relaxed)
          requestSweep()
        }),
      false)
  }

  /// Releases an observer; and if there is `more`, the others that were disposed of before. The owner.
  private func remove(_ subscription: Subscription) {
    if calls.value.depth == 0 {
      // Acquire: the other side of `enqueueRemoval`.
      let found = disposals.exchange(Disposals.none, ordering: .acquiring)
      return remove([subscription], found)
    }
    calls.value.leaving.append(subscription)
    disposals.bitwiseOr(Disposals.afterCalls, ordering: .relaxed)
    // The next one that is disposed of here gets a step of its own, which runs at once.
    disposals.bitwiseAnd(~Disposals.one, ordering: .acquiring)
  }

  /// Releases the observers that were disposed of and have no step. Inside of a call of an observer, this happens when that call has
  /// ended. The owner, behind each call of observers.
  @inlinable
  func removeAfterCalls() {
    if disposals.load(ordering: .relaxed) & (Disposals.more | Disposals.afterCalls) != 0 { removeLeaving() }
  }

  /// Releases all observers that were disposed of, also those whose step waits. The owner, if a step was refused, or may never run.
  func removeDisposed() {
    if disposals.load(ordering: .relaxed) == Disposals.none { return }
    // Relaxed: the owner's own note.
    disposals.bitwiseOr(Disposals.more, ordering: .relaxed)
    removeAfterCalls()
  }

  @usableFromInline
  func removeLeaving() {
    if calls.value.depth > 0 { return }
    // Acquire: the other side of `enqueueRemoval`.
    let found = disposals.bitwiseAnd(Disposals.one, ordering: .acquiring).oldValue
    let leaving = calls.value.leaving
    calls.value.leaving = []
    remove(leaving, found)
  }

  /// The owner, outside of the calls of observers.
  private func remove(_ leaving: [Subscription], _ found: UInt8) {
    let hadObservers = !entries.isEmpty
    if found & Disposals.more != 0 {
      entries.removeAll { $0.isDisposed }
    } else {
      for subscription in leaving { entries.remove(subscription.key.load(ordering: .relaxed)) }
    }
    if hadObservers, entries.isEmpty { onUse(false) }
  }

  /// Releases all observers. The runtime, when there is no owner any more.
  @usableFromInline
  func removeAll() { entries.removeAll { _ in true } }
}
