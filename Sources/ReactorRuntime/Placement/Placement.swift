import ReactorCore

/// Who runs a reactor's turns.
public enum Placement: Sendable {
  /// The thread that sends to the idle reactor runs the action at once, and with it what others send
  /// meanwhile.
  case caller
  /// The thread of a ``Loop``.
  case loop(Loop)
}
