import ReactorCore

/// The reactor behind the ports that its transforms are given. It is not retained, and only while the transforms
/// are called it is sure to be there; so what outlives them needs a weak reference. That is made only if a port
/// does: an object that a weak reference was made of is slower for ever, in each retain and release.
@usableFromInline
final class PortOwner<R: Reactor>: Sendable {
  private enum Reference: Sendable {
    /// While the transforms are called.
    case borrowed(UncountedReference<R>, UncountedReference<Runtime<R.Action, R.Mutation, R.State>>)
    case weakly(WeakReactor<R>)

    var lasting: WeakReactor<R> {
      switch self {
      case .borrowed(let reactor, let runtime):
        reactor.use { reactor in runtime.use { WeakOwner(reactor, part: $0) } }
      case .weakly(let reactor): reactor
      }
    }
  }

  private let reference: SystemMutex<Reference>

  @usableFromInline
  init(_ reactor: R, part runtime: Runtime<R.Action, R.Mutation, R.State>) {
    reference = SystemMutex(.borrowed(UncountedReference(reactor), UncountedReference(runtime)))
  }

  /// Calls `body` with both, unless the reactor is gone. Any thread.
  @usableFromInline
  func use(_ body: (Runtime<R.Action, R.Mutation, R.State>, R) -> Void) { lasting.use(body) }

  /// From now on the reactor may go. Whoever called the transforms, before it lets go of the reactor.
  @usableFromInline
  func endLoan() { _ = lasting }

  private var lasting: WeakReactor<R> {
    // Under the mutex the loan does not end.
    reference.withLock { reference in
      let lasting = reference.lasting
      reference = .weakly(lasting)
      return lasting
    }
  }
}
