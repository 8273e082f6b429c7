import CReactorCore

/// Whether the calling thread is inside of a turn, of any reactor, or of a job of a loop: then it must not wait for
/// room.
///
/// A count in the thread's own memory; entering and leaving are one load and one store.
public enum TurnMark {
  @inlinable
  @inline(__always)
  public static func enter() { rr_thread_enter_turn() }

  @inlinable
  @inline(__always)
  public static func leave() { rr_thread_leave_turn() }

  @inlinable
  public static var isSet: Bool { rr_thread_is_in_turn() }
}
