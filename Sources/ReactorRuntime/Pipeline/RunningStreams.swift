import ReactorCore

/// The streams of a reactor that have not ended.
@usableFromInline
final class RunningStreams<Action: Sendable>: Sendable {
  private struct Members: Sendable {
    var streams: [ObjectIdentifier: MutationStream<Action>] = [:]
    var isDisposed = false
  }

  private let members = SystemMutex(Members())

  /// Any thread.
  func insert(_ stream: MutationStream<Action>) {
    let isLate = members.withLock { members in
      if !members.isDisposed { members.streams[ObjectIdentifier(stream)] = stream }
      return members.isDisposed
    }
    if isLate { stream.dispose() }
    // It may have ended on another thread meanwhile, when it was not yet there to be removed.
    if stream.isDisposed { remove(stream) }
  }

  /// Any thread.
  func remove(_ stream: MutationStream<Action>) {
    let removed = members.withLock { $0.streams.removeValue(forKey: ObjectIdentifier(stream)) }
    removed?.dispose()
  }

  /// Ends all, and what comes later.
  func dispose() {
    let ended = members.withLock { members in
      members.isDisposed = true
      defer { members.streams = [:] }
      return members.streams
    }
    for stream in ended.values { stream.dispose() }
  }
}
