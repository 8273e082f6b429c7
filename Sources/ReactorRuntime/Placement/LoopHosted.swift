/// What the thread of a loop does with a runtime whose turns it runs.
@usableFromInline
protocol LoopHosted: AnyObject, Sendable {
  /// The loop has taken over what a sender scheduled: from here on its thread is the owner.
  func beginOnLoop()
  /// Its thread is no longer the owner, and nobody else until the loop begins again.
  func suspendOnLoop()
  /// Runs what was sent, at most a turn's limit, and answers how many actions that were.
  func turnOnLoop() -> Int
  /// Refuses what is sent from now on; may be called again.
  func closeOnLoop()
  /// Gives the ownership up; false if something arrived meanwhile and the loop is still the owner.
  func leaveLoop() -> Bool
}

/// A runtime on its way to its loop, with the reactor, which it does not retain itself: as long as the loop
/// has something to do for it, the reactor stays.
@usableFromInline
struct Scheduled: Sendable {
  @usableFromInline let runtime: any LoopHosted
  @usableFromInline let reactor: any AnyObject & Sendable

  @usableFromInline
  init(_ runtime: any LoopHosted, of reactor: any AnyObject & Sendable) {
    self.runtime = runtime
    self.reactor = reactor
  }
}
