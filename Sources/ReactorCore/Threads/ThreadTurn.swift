#if DEBUG
  import CReactorCore

  /// A turn of a reactor that the calling thread runs, for the checks of debug builds. Release builds do not have it.
  ///
  /// Turns nest: a turn that sends to an idle reactor runs a turn of that reactor inside of its own.
  public final class ThreadTurn {
    /// The identity of the object that has the turn.
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

    /// The innermost turn that the calling thread is inside of.
    public static var innermost: ThreadTurn? {
      // Alive: `begin` has retained it, and `end` releases it.
      rr_thread_get_turn().map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }

    /// Begins a turn on the calling thread. Returns nil if the innermost turn has the same subject: that turn continues.
    public static func begin(of subject: ObjectIdentifier, _ reactor: any AnyObject.Type) -> ThreadTurn? {
      if innermost?.subject == subject { return nil }
      let turn = ThreadTurn(of: subject, reactor, in: rr_thread_get_turn())
      rr_thread_set_turn(Unmanaged.passRetained(turn).toOpaque())
      return turn
    }

    /// Ends the turn and returns its duration. Called once by the thread that began it, after the turns inside of it ended.
    public func end() -> Duration {
      rr_thread_set_turn(outer)
      Unmanaged.passUnretained(self).release()
      return ContinuousClock.now - beginning
    }
  }
#endif
