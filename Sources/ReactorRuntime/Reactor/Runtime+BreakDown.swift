import ReactorCore

/// What happens when a transform ends: the reactor is closed, and what it was sent is reported.
extension Runtime {
  /// Any thread, with a reference to the reactor.
  @usableFromInline
  func breakDown(_ transform: Failure.Transform, _ error: (any Error)?) {
    // What was accepted until now is refused by the owner, one by one.
    insert(.broken)
    closeOnLoop()
    pipelineReference.use { $0.endStreams() }
    report(.transform(transform, error), nil)
  }
}
