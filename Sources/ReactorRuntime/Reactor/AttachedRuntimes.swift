import ReactorCore

/// The runtimes of reactors that store none.
@usableFromInline
let attachedRuntimes = AttachmentTable()

extension Runtime {
  /// Ends the streams of a reactor that is gone and stored no runtime. Any thread. Does nothing for any other reactor: its own
  /// runtime ends with it.
  ///
  /// Only the streams: in the `deinit` of the reactor, which may be running, it still reads its state.
  @usableFromInline
  static func endStreams(ofAttached reactor: ObjectIdentifier) {
    (attachedRuntimes.valueIfDead(reactor) as? Self)?.disposeDiscardedStreams()
  }
}
