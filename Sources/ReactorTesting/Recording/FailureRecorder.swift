import ReactorRuntime

/// Records the failures that a runtime reports. Any thread.
///
///     let failures = FailureRecorder()
///     let runtime = Runtime<Action, Mutation, State>(onFailure: failures.handler)
///     …
///     #expect(failures.failures.isEmpty)
public final class FailureRecorder: Sendable {
  private let recording = Recording<Failure>()

  public init() {}

  /// For a runtime's `onFailure`. It keeps the recording, not the recorder.
  public var handler: @Sendable (Failure) -> Void { { [recording] in recording.append($0) } }

  /// All that were reported.
  public var failures: [Failure] { recording.items }

  /// Waits for so many failures in all.
  ///
  /// - Returns: Whether there are as many; false if they did not come in time, or if the task was cancelled.
  public func wait(forCount count: Int, timeout: Duration = .seconds(60)) async -> Bool {
    await recording.wait(forCount: count, timeout: timeout)
  }
}
