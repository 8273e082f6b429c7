/// The state of a ``Core``: a value that changes only by reacting to events.
@preconcurrency
public protocol State: Sendable {
  /// Changes the state as the event says. Runs on the core's thread, one event at a time.
  ///
  /// It must not read ``Core/state`` of its own core: that stops the program, as it does in ReactorSwift.
  mutating func react(to event: any Event)
}

/// Something that happened, and that a state may react to.
@preconcurrency
public protocol Event: Sendable {}
