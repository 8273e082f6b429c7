import ReactorRuntime

/// Records the events of a stream, such as the states or actions of a reactor. Any thread.
///
///     let states = Recorder(reactor.state.map(\.value))
///     reactor.action.onNext(.increase)
///     #expect(await states.wait(forCount: 2))
///     #expect(states.difference(from: [0, 1]) == nil)
public final class Recorder<Element: Sendable>: ObserverType, Disposable {
  private let recording = Recording<Event<Element>>()
  private let subscription = SerialDisposable()

  /// Creates a recorder that records what ``on(_:)`` is called with.
  public init() {}

  /// Records a stream until the stream stops or the recorder is freed.
  public init(_ stream: some ObservableType<Element>) {
    let recording = recording
    subscription.disposable = stream.asObservable().subscribe { Self.append($0, to: recording) }
  }

  deinit { subscription.dispose() }

  public func on(_ event: Event<Element>) { Self.append(event, to: recording) }

  private static func append(_ event: Event<Element>, to recording: Recording<Event<Element>>) {
    recording.append(event, counts: !event.isStopEvent, isLast: event.isStopEvent)
  }

  /// Ends the subscription, and keeps what was recorded.
  public func dispose() { subscription.dispose() }

  /// All events so far.
  public var events: [Event<Element>] { recording.items }

  /// The elements so far.
  public var elements: [Element] { recording.items.compactMap(\.element) }

  /// The error with which the stream failed. What comes after its first stop event changes nothing.
  public var error: (any Error)? { recording.end?.error }

  /// Whether the stream has completed. What comes after its first stop event changes nothing.
  public var isCompleted: Bool { recording.end?.isCompleted ?? false }

  /// Waits until `count` elements were recorded in all.
  ///
  /// - Returns: Whether there are as many. False if the time has passed, if the stream has stopped before, or if
  ///   the task was cancelled.
  public func wait(forCount count: Int, timeout: Duration = .seconds(60)) async -> Bool {
    await recording.wait(forCount: count, timeout: timeout)
  }

  /// Waits for the stream to complete or to fail.
  ///
  /// - Returns: Whether it has.
  public func waitForStop(timeout: Duration = .seconds(60)) async -> Bool {
    // No stream has as many elements, so only the stop event or the timeout ends the wait.
    _ = await recording.wait(forCount: .max, timeout: timeout)
    return recording.end != nil
  }
}

extension Recorder where Element: Equatable {
  /// Compares the elements with the expected ones. Returns nil if they are equal; otherwise the result of
  /// ``ReactorTesting/difference(of:from:)``.
  public func difference(from expected: [Element]) -> String? {
    ReactorTesting.difference(of: elements, from: expected)
  }

  /// Compares the events with the expected ones. Returns nil if they are equal; otherwise the result of
  /// ``ReactorTesting/difference(of:from:)``.
  public func difference(fromEvents expected: [Event<Element>]) -> String? {
    ReactorTesting.difference(of: events, from: expected)
  }
}

/// Records the failures that a runtime reports. Any thread.
///
///     let failures = FailureRecorder()
///     let runtime = Runtime<Action, Mutation, State>(onFailure: failures.handler)
///     …
///     #expect(failures.failures.isEmpty)
public final class FailureRecorder: Sendable {
  private let recording = Recording<Failure>()

  public init() {}

  /// The handler to pass as a runtime's `onFailure`. It retains the recorded failures, but not the recorder.
  public var handler: @Sendable (Failure) -> Void { { [recording] in recording.append($0) } }

  /// All failures so far.
  public var failures: [Failure] { recording.items }

  /// Waits until `count` failures were reported in all.
  ///
  /// - Returns: Whether there are as many. False if the time has passed or the task was cancelled.
  public func wait(forCount count: Int, timeout: Duration = .seconds(60)) async -> Bool {
    await recording.wait(forCount: count, timeout: timeout)
  }
}

/// Compares an array with the expected one. Returns nil if they are equal; otherwise a text for a test's message:
///
///     The first difference is at index 1; 3 were expected and 2 recorded.
///       0   next(1)
///     - 1   next(2)
///     + 1   next(5)
///     - 2   completed
///
/// Lines with a minus were expected, lines with a plus were recorded. The text of long arrays is shortened.
public func difference<Item: Equatable>(of recorded: [Item], from expected: [Item]) -> String? {
  let common = min(recorded.count, expected.count)
  let first = (0..<common).first { recorded[$0] != expected[$0] } ?? common
  if first == recorded.count && first == expected.count { return nil }
  var lines = [
    "The first difference is at index \(first); \(expected.count) were expected and \(recorded.count) recorded."
  ]
  let begin = max(0, first - 3)
  let end = max(recorded.count, expected.count)
  let shownEnd = min(end, first + 10)
  if begin > 0 { lines.append("  … \(begin) equal") }
  for index in begin..<shownEnd {
    let wanted = index < expected.count ? expected[index] : nil
    let got = index < recorded.count ? recorded[index] : nil
    if let wanted, wanted == got {
      lines.append("  \(index)   \(wanted)")
    } else {
      if let wanted { lines.append("- \(index)   \(wanted)") }
      if let got { lines.append("+ \(index)   \(got)") }
    }
  }
  if shownEnd < end { lines.append("  … \(end - shownEnd) more") }
  return lines.joined(separator: "\n")
}
