import ReactorRuntime

extension Loop {
  /// Keeps the loop busy by a job until the gate that this returns is open. The job has begun when this returns: one that has not
  /// keeps the loop from nothing that is ready or due by then.
  public func hold() throws -> Gate {
    let (isHeld, mayGoOn) = (Gate(), Gate())
    try execute {
      isHeld.open()
      _ = mayGoOn.wait()
    }
    guard isHeld.wait() else { throw TestFailure() }
    return mayGoOn
  }
}
