import ReactorCore
import Synchronization

/// Decides which elements of one subscription of `take(until:)` are superseded: they passed it, have not
/// taken effect yet, and must not take effect any more.
///
/// The problem: `take(until:)` ends its stream in order, which is after the element that another thread is
/// bringing through it at this moment. For a request that a newer one replaces, that is too late: the old
/// answer, still on its way, would take effect after the action that replaced the request.
///
/// The protocol has three parts.
///
/// 1. *Passing.* A thread that brings an element through `take(until:)` is inside of this scope (see
///    `ThreadScope`) until the element has been delivered. If the element has to wait for something, such as
///    a mailbox, the code that makes it wait remembers the scopes that the thread is inside of:
///    ``current(of:)``.
/// 2. *Superseding.* A signal that comes while the thread is inside of a ``SupersedeCause`` supersedes what
///    has passed: at once and for good, whatever other threads are doing. Signals that come otherwise end
///    the stream, but supersede nothing.
/// 3. *Checking.* Before a waiting element takes effect, the code that made it wait asks each remembered
///    scope: ``isSuperseded(by:)``.
///
/// A stream may end while an element that passed still waits; a request with one answer nearly always does.
/// So the signal stays subscribed to as long as anything waits: ``retainSignal()`` and ``releaseSignal()``.
///
/// A scope concerns one stream only, the one that `take(until:)` is part of. An element that passes and then
/// gets into another stream, through a subject, is not superseded there.
@usableFromInline
final class SupersedeScope: PassedScope, @unchecked Sendable {
  // Unchecked like its superclass: what is added is constant, or an atomic.
  private let hasEnded = Atomic(false)
  private let signal = SingleAssignmentDisposable()
  /// How many need the signal: the subscription, each element that passes, and each that waits.
  private let signalUsers = Atomic(1)
  private let cause = AtomicReference<SupersedeCause>()
  /// The stream that is being subscribed to when this is made. If there is none, as for a `take(until:)` that
  /// is made later, the stream where the first element arrives.
  private let stream = AtomicReference<StreamIdentity>()

  /// Call it where `take(until:)` is subscribed to.
  @usableFromInline
  override init() {
    super.init()
    if let stream = ThreadScope.innermost(StreamIdentity.self) { _ = self.stream.setIfNil(stream) }
  }

  deinit {
    cause.releaseObject()
    stream.releaseObject()
  }

  /// Returns an observer that passes each event on, and each element inside of this scope.
  @inlinable
  func wrap<Element>(_ observer: AnyObserver<Element>) -> AnyObserver<Element> {
    AnyObserver { [self] event in
      guard case .next = event else { return observer.on(event) }
      // Another thread may dispose of the stream while the element is on its way to where it must wait.
      retainSignal()
      defer { releaseSignal() }
      ThreadScope.enter(self) { observer.on(event) }
    }
  }

  /// Notes that the signal has come, and supersedes what has passed if the calling thread is inside of a
  /// ``SupersedeCause``. Any thread.
  ///
  /// - Returns: Whether the caller must end the stream; false if the signal had come before.
  @usableFromInline
  func end() -> Bool {
    if let current = ThreadScope.innermost(SupersedeCause.self) { _ = cause.setIfNil(current) }
    // Relaxed: it only chooses the one caller that ends the stream, and publishes nothing.
    return !hasEnded.exchange(true, ordering: .relaxed)
  }

  /// Holds the subscription to the signal. Once.
  ///
  /// - Returns: What the stream disposes of when it ends. The signal itself is disposed of when nobody needs
  ///   it any more.
  @usableFromInline
  func hold(_ signal: any Disposable) -> any Disposable {
    self.signal.hold(signal)
    return Disposables.create { [self] in releaseSignal() }
  }

  /// Keeps the signal subscribed to, for an element that passes, or that has passed and has to wait. Any thread.
  // Relaxed: nothing is published. If the count is 0 the stream was disposed of, and the element is one too late that ends there.
  @usableFromInline
  override func retainSignal() { signalUsers.wrappingAdd(1, ordering: .relaxed) }

  /// Ends what ``retainSignal()`` began. Any thread.
  // Acquire and release: the last one disposes, after all that the others did.
  @usableFromInline
  override func releaseSignal() {
    if signalUsers.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { signal.dispose() }
  }

  /// Whether what has passed is superseded, by that cause. Any thread.
  func isSuperseded(by cause: SupersedeCause) -> Bool { self.cause.use { $0 === cause } ?? false }

  /// The scopes of a stream that the calling thread is inside of.
  static func current(of stream: StreamIdentity) -> [SupersedeScope] {
    ThreadScope.objects(SupersedeScope.self).filter { $0.stream.setIfNil(stream) === stream }
  }
}

/// Marks a thread that sends a signal which supersedes older requests. Each source of signals has one
/// object. A reactor has one, and is inside of it while it announces an action.
@usableFromInline
final class SupersedeCause: Sendable {
  @usableFromInline
  init() {}
}

/// The identity of a stream whose elements may have to wait. A thread is inside of it while it subscribes to
/// that stream.
@usableFromInline
final class StreamIdentity: Sendable {
  @usableFromInline
  init() {}
}
