import ReactorCore

/// What a sender does that found the mailbox full.
extension RuntimeOn {
  /// Waits a little, or until there is room again; says why not if that would never come.
  @usableFromInline
  @inline(never)
  func waitForRoom(after attempts: inout Int) -> SendError? {
    attempts += 1
    if attempts <= 8 {
      C.pause(times: 16)
      return nil
    }
    if attempts <= 512 {
      DedicatedThread.yield()
      return nil
    }
    attempts = 0
    // Not retained, which would cost each wait an allocation more: the sender holds the reactor.
    let wait = WaitGraph.Wait(
      thread: C.threadToken, emptier: { [unowned self] in emptier }, isOver: { [unowned self] in canGoOn },
      wake: { [unowned self] in mailbox.room.notify() })
    guard WaitGraph.enter(wait) else { return .deadlock }
    defer { WaitGraph.leave(wait.thread) }
    // One sleep at most: others went on because this wait was over, so it must be looked at anew.
    var looks = 0
    _ = mailbox.room.wait {
      looks += 1
      return looks > 2 || canGoOn
    }
    return nil
  }

  /// The token of the thread that makes room.
  private var emptier: UInt64 { loop.map { $0.token.load(ordering: .relaxed) } ?? state.wasOwner }

  /// Whether a sender that found the ring full should try again.
  private var canGoOn: Bool { mailbox.hasRoom || !state.wasBusy || mailbox.ring.isClosed }
}
