import CReactorCore

/// The static tracepoints of the package trait `Tracepoints`. Their meaning is documented in `rr_trace.h`. Without the
/// trait these functions do nothing, and leave no instruction in the code that calls them. Any thread.
public enum Tracepoint {
  /// A reactor takes its first action, or is observed for the first time.
  @inlinable
  @inline(__always)
  public static func start(_ reactor: AnyObject, type: @autoclosure () -> String) {
    #if Tracepoints
      rr_trace_start(address(reactor), type())
    #endif
  }

  /// A turn begins.
  @inlinable
  @inline(__always)
  public static func beginTurn(_ reactor: AnyObject) {
    #if Tracepoints
      rr_trace_turn_begin(address(reactor))
    #endif
  }

  /// A turn ended that processed that many actions.
  @inlinable
  @inline(__always)
  public static func endTurn(_ reactor: AnyObject, actions: Int) {
    #if Tracepoints
      rr_trace_turn_end(address(reactor), actions)
    #endif
  }

  /// A send found no room in the mailbox.
  @inlinable
  @inline(__always)
  public static func full(_ reactor: AnyObject) {
    #if Tracepoints
      rr_trace_full(address(reactor))
    #endif
  }

  /// A reactor accepts no more actions.
  @inlinable
  @inline(__always)
  public static func close(_ reactor: AnyObject) {
    #if Tracepoints
      rr_trace_close(address(reactor))
    #endif
  }

  /// A loop's thread is about to sleep.
  @inlinable
  @inline(__always)
  public static func park(_ loop: AnyObject) {
    #if Tracepoints
      rr_trace_park(address(loop))
    #endif
  }

  /// A loop's thread continues after a sleep.
  @inlinable
  @inline(__always)
  public static func wake(_ loop: AnyObject) {
    #if Tracepoints
      rr_trace_wake(address(loop))
    #endif
  }

  @inlinable
  static func address(_ object: AnyObject) -> UInt { UInt(bitPattern: ObjectIdentifier(object)) }
}
