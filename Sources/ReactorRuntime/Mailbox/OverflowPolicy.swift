/// What ``Reactor/send(_:)`` does with an action for which there is no room in the mailbox.
///
/// It is about actions only: a mutation that a stream emits outside of a turn waits for room. And it is not about
/// what the reactor sends to itself, which does not take room in the mailbox: `reentrantCapacity` bounds that.
public enum OverflowPolicy: Sendable, Hashable {
  /// The sender waits: it spins, yields, and then sleeps. From inside a turn, of whatever reactor, it does not
  /// wait: what it sends is kept beside the mailbox, up to `reentrantCapacity`.
  case block
  /// The action is refused: ``SendError/full``.
  case fail
  /// The action is dropped: ``SendError/dropped``.
  case dropNewest
  /// The oldest action in the mailbox is dropped, which its reactor finds out in its next turn:
  /// ``SendError/dropped``. Meanwhile the newer ones are kept beside it, at most twice as many as its capacity;
  /// and as many again that the reactor has taken over from there to process them next. These do not give way any
  /// more, so newer ones may have to. The newest one always stays.
  case dropOldest
}
