import ReactorCore

/// What happens to actions that were accepted and then found the loop closed: they are destroyed, and each is
/// reported.
extension RuntimeOn {
  /// Nobody will process what is inside. Whoever scheduled, and was refused by the loop.
  @usableFromInline
  func discardAll(of reactor: any AnyObject.Type) {
    var discarded = 0
    var hasAll = true
    state.begin()
    closeOnLoop()
    repeat {
      // What the loop's thread sent from its turns is that thread's to touch, until it has run its last turn.
      hasAll = loop?.ending.isOver != false
      discarded += hasAll ? mailbox.removeAll() : mailbox.ring.drain { _ in }
      state.leave()
    } while reenters()
    // Not as the owner: the handler may send to this reactor again.
    for _ in 0..<discarded { report(.closed, of: reactor) }
    if !hasAll {
      loop?.ending.whenOver { [self] in
        // Refused: somebody else discards, who comes here too if need be.
        if state.trySchedule() { discardAll(of: reactor) }
      }
    }
  }
}
