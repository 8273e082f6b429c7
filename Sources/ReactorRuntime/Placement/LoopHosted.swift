/// What the thread of a loop has done by a runtime whose turns it runs.
@usableFromInline
enum LoopCall: Sendable {
  /// The loop has taken over what a sender scheduled: from here on its thread is the owner.
  case begin
  /// Its thread is no longer the owner, and nobody else until the loop begins again.
  case suspend
  /// Runs what was sent, at most a turn's limit, and answers how many actions that were.
  case turn
  /// Refuses what is sent from now on; may come again.
  case close
  /// Gives the ownership up; answers 0 if something arrived meanwhile and the loop is still the owner.
  case leave
  /// Answers how much waits in the mailbox, without what its own turns have sent. Any thread.
  case count
}

/// A runtime on its way to its loop, with the reactor, which it does not retain itself: as long as the loop
/// has something to do for it, the reactor stays.
@usableFromInline
struct Scheduled: Sendable {
  /// A closure, since it is made where the type of the reactor is known: what it calls is specialised, where
  /// the methods of a protocol would not be. It counts no references to the reactor or the runtime, whose
  /// first cache lines senders read.
  @usableFromInline let serve: @Sendable (LoopCall) -> Int
  @usableFromInline let reactor: any AnyObject & Sendable
  /// Whose turns these are.
  @usableFromInline let runtime: ObjectIdentifier

  @usableFromInline
  init(
    _ runtime: ObjectIdentifier, of reactor: any AnyObject & Sendable,
    _ serve: @escaping @Sendable (LoopCall) -> Int
  ) {
    self.serve = serve
    self.reactor = reactor
    self.runtime = runtime
  }
}
