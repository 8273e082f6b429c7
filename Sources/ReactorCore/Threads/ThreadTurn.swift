#if DEBUG
  import CReactorCore

  /// A turn of a reactor, while the calling thread runs it: what the checks of debug builds ask for.
  ///
  /// Turns nest: one that sends to an idle reactor runs that one's turn inside of its own. In release builds
  /// there is no such thing.
  public final class ThreadTurn {
    /// Whose turn it is.
    public let subject: ObjectIdentifier
    /// The type of the reactor.
    public let reactor: any AnyObject.Type
    private let beginning = ContinuousClock.now
    private let outer: UnsafeMutableRawPointer?

    private init(
      of subject: ObjectIdentifier, _ reactor: any AnyObject.Type, in outer: UnsafeMutableRawPointer?
    ) {
      self.subject = subject
      self.reactor = reactor
      self.outer = outer
    }

    /// The innermost that the calling thread is inside of.
    public static var innermost: ThreadTurn? {
      // Retained by whoever began it, until it ends.
      rr_thread_turn().pointee.map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }

    /// Begins one on the calling thread; nil if the innermost is of the same subject: that goes on.
    public static func begin(of subject: ObjectIdentifier, _ reactor: any AnyObject.Type) -> ThreadTurn? {
      if innermost?.subject == subject { return nil }
      // Never nil: it is the address of a variable of the thread's.
      let innermost = rr_thread_turn()!
      let turn = ThreadTurn(of: subject, reactor, in: innermost.pointee)
      innermost.pointee = Unmanaged.passRetained(turn).toOpaque()
      return turn
    }

    /// Ends it, and answers how long it took. The thread that began it, once, after those inside of it.
    public func end() -> Duration {
      rr_thread_turn().pointee = outer
      Unmanaged.passUnretained(self).release()
      return ContinuousClock.now - beginning
    }
  }
#endif
