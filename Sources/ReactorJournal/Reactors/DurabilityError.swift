import ReactorRuntime

/// Why an action is not known to be durable.
public enum DurabilityError: Error, Sendable, Equatable {
  /// The reactor did not accept the action. Nothing was written.
  case refused(SendError)
  /// The journal has ended, and contains nothing of the action.
  case notWritten(JournalError)
  /// The journal has ended in the commit that contained the action, or when it applied what was written to the durable state. After
  /// the next start the action has happened, or it has not; or that start refuses the journal.
  case unknownOutcome(JournalError)
}
