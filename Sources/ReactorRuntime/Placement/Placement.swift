/// Which thread runs a reactor's turns.
public enum Placement: Sendable {
  /// The thread that sends to an idle reactor runs the action at once, and also what other threads send meanwhile.
  case caller
  /// The thread of a ``Loop``.
  case loop(Loop)
}

/// The placements that name a loop in another way. One that runs turns on a loop of a new kind belongs here, too.
extension Placement {
  /// The turns run on the main loop: see ``MainLoop``. A send by code on the main queue that finds the mailbox full runs rounds of it.
  public static var main: Placement { .loop(MainLoopRunner.shared.loop) }

  /// The turns run on the loop that the group has for the key: see ``LoopGroup/loop(for:)``.
  public static func group(_ group: LoopGroup, key: some Hashable) -> Placement {
    .loop(group.loop(for: key))
  }
}
