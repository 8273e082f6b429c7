/// How the owner of an ``OwnedState`` changes the state while others read it.
public enum StateForm: UInt8, Sendable {
  /// The owner copies the state to another slot before its first change. Nobody waits.
  case slots
  /// The owner changes the state where it is read, and takes turns with readers.
  case onePlace
  /// The owner changes an earlier state in another slot, after it has applied the changes that this one has missed. Readers
  /// never wait. See ``OwnedState/change(byReplaying:verify:_:)``.
  case replayed
}
