import ReactorRuntime

/// Why an action is not known to be durable.
public enum DurabilityError: Error, Sendable, Equatable {
  /// The reactor did not accept the action, and nothing of it was written. If it has an identifier, an earlier action with the same one
  /// may be written.
  case refused(SendError)
  /// The journal has ended, or the reactor cannot be started, and nothing of the action was written. It is never thrown for an action with an identifier for which the
  /// reactor could not look: see ``unknownOutcome(_:)``.
  case notWritten(JournalError)
  /// The journal has ended in the commit that contained the action, or when it applied what was written to the durable state. After
  /// the next start the action has happened, or it has not; or that start refuses the journal. Or the action has an identifier, and an
  /// earlier one with the same identifier may be written.
  case unknownOutcome(JournalError)
}
