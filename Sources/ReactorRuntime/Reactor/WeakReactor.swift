import ReactorCore

/// A reference to a reactor and its runtime that retains neither, for streams.
@usableFromInline
typealias WeakReactor<R: Reactor> = WeakReference<R, Runtime<R.Action, R.Mutation, R.State>>

/// The reference to the reactor in the streams that its transforms are given: the ports. It does not retain the reactor.
///
/// While the transforms are called, the reactor certainly exists, so an uncounted reference is enough. A port that
/// outlives the calls needs a weak reference. It is made only then: each retain and release of an object is slower once
/// it was referenced weakly.
@usableFromInline
final class PortReactor<R: Reactor>: Sendable {
  private enum Reference: Sendable {
    /// Valid while the transforms are called.
    case uncounted(UncountedReference<R>, UncountedReference<Runtime<R.Action, R.Mutation, R.State>>)
    case weak(WeakReactor<R>)

    var asWeak: WeakReactor<R> {
      switch self {
      case .uncounted(let reactor, let runtime):
        reactor.use { reactor in runtime.use { WeakReference(reactor, part: $0) } }
      case .weak(let reactor): reactor
      }
    }
  }

  private let reference: SystemMutex<Reference>
  @usableFromInline let identity: ObjectIdentifier

  @usableFromInline
  init(_ reactor: R, part runtime: Runtime<R.Action, R.Mutation, R.State>) {
    identity = ObjectIdentifier(reactor)
    reference = SystemMutex(.uncounted(UncountedReference(reactor), UncountedReference(runtime)))
  }

  /// Calls `body` with both, unless the reactor is gone. Any thread.
  @usableFromInline
  func use(_ body: (Runtime<R.Action, R.Mutation, R.State>, R) -> Void) { weakReference().use(body) }

  /// Makes the reference weak, since the reactor may be released from now on. The thread that called the transforms,
  /// before it releases the reactor.
  @usableFromInline
  func makeWeak() { _ = weakReference() }

  private func weakReference() -> WeakReactor<R> {
    // Under the mutex, the thread that called the transforms cannot get past `makeWeak()`, so the reactor exists.
    reference.withLock { reference in
      let weak = reference.asWeak
      reference = .weak(weak)
      return weak
    }
  }
}
