/// What a ``Loop`` runs. Every ``Reactor`` is one; there is nothing to implement.
///
/// A protocol, so that the loop reaches the turn through the witness in the reactor's own module, where it
/// is specialised for the reactor's type.
public protocol LoopHosted: AnyObject, Sendable {
  /// The loop has taken over what a sender scheduled: from here on its thread is the owner.
  func beginOnLoop()
  /// Runs what was sent, at most a turn's limit, and answers how many actions that were.
  func turnOnLoop() -> Int
  /// Gives the ownership up; false if something arrived meanwhile and the loop is still the owner.
  func leaveLoop() -> Bool
}
