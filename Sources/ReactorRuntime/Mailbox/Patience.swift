/// How long a sender is willing to wait for room.
@usableFromInline
enum Patience: Sendable {
  /// As the reactor's ``OverflowPolicy`` says.
  case asThePolicySays
  /// Not at all.
  case none
  case until(ContinuousClock.Instant)
  case unlimited
}
