import ReactorCore
import Synchronization

/// Whether what has passed one subscription of `take(until:)` is void, since an announced action has ended
/// it.
///
/// That subscription ends in order, so after what another thread is just bringing through it. But a mutation
/// of an older request that is on its way must not be reduced after the action that ends the request. So a
/// thread is inside of the cut (see `ThreadScope`) while it brings an element on; what has to wait in a
/// mailbox remembers the cuts of its stream that it has passed, and the owner looks at them before it goes
/// on. As long as something waits, the signal is listened to, even if the stream has ended otherwise.
final class Cut: Sendable {
  private let hasEnded = Atomic(false)
  private let signal = SingleAssignmentDisposable()
  /// What the signal is listened to for: the subscription, and each mutation that waits.
  private let listeners = Atomic(1)
  private let cause = AtomicOnce<Announcement>()
  /// The stream that this is part of: the one that is being subscribed to when this is made; or, if it is
  /// made later, the one where the first element arrives. What passes it and then, by a subject, gets into
  /// another is not void.
  private let stream = AtomicOnce<StreamIdentity>()

  /// Where it is subscribed to.
  init() {
    if let stream = ThreadScope.innermost(StreamIdentity.self) { _ = self.stream.setIfNil(stream) }
  }

  deinit {
    cause.releaseObject()
    stream.releaseObject()
  }

  /// An observer to which elements come through this.
  func marking<Element>(_ observer: AnyObserver<Element>) -> AnyObserver<Element> {
    AnyObserver { [self] event in
      if case .next = event { ThreadScope.enter(self) { observer.on(event) } } else { observer.on(event) }
    }
  }

  /// The signal has come; if the calling thread is announcing an action, that makes the cut. False if it had
  /// come before. Any thread.
  func end() -> Bool {
    if let announcement = Announcement.current { _ = cause.setIfNil(announcement) }
    // Relaxed: only one is to end it.
    return !hasEnded.exchange(true, ordering: .relaxed)
  }

  /// Holds the subscription to the signal, and answers what is to be disposed instead of it.
  func hold(_ signal: any Disposable) -> any Disposable {
    self.signal.hold(signal)
    return Disposables.create { [self] in ignore() }
  }

  /// A mutation that has passed waits; ``ignore()`` when it waits no longer. Any thread.
  func listen() { listeners.wrappingAdd(1, ordering: .relaxed) }

  /// Any thread. Acquire and release: the last to ignore the signal comes after all others.
  func ignore() {
    if listeners.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { signal.dispose() }
  }

  /// Whether an action of that reactor has made it. Any thread.
  func isMade(by announcement: Announcement) -> Bool {
    cause.use { $0 === announcement } ?? false
  }

  /// The cuts of a stream that the calling thread is bringing something through.
  static func passed(in stream: StreamIdentity) -> [Cut] {
    ThreadScope.objects(Cut.self).filter { $0.stream.setIfNil(stream) === stream }
  }
}

/// Which stream of mutations it is; a thread is inside of it while it subscribes to that.
@usableFromInline
final class StreamIdentity: Sendable {
  @usableFromInline
  init() {}
}
