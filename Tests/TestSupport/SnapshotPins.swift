import ReactorCore

extension RawTrampoline {
  /// Pins the published slot as a reader does, for a test that holds the pin itself: by the pin that the thread keeps between its
  /// reads, or by one of its own.
  public func pinPublished() -> SnapshotPin {
    let pin = pinKept()
    return pin.slot >= 0 ? pin : pinUnkept()
  }
}
