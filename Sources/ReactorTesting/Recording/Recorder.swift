import ReactorRuntime

/// Records what a stream says: the states of a reactor, the actions, whatever. Any thread.
///
///     let states = Recorder(reactor.state.map(\.value))
///     reactor.action.onNext(.increase)
///     #expect(await states.wait(forCount: 2))
///     #expect(states.difference(from: [0, 1]) == nil)
public final class Recorder<Element: Sendable>: ObserverType, Disposable {
  private let recording = Recording<Event<Element>>()
  private let subscription = SerialDisposable()

  /// Records what it is told by ``on(_:)``.
  public init() {}

  /// Records a stream, until that stops or this recorder goes away.
  public init(_ stream: some ObservableType<Element>) {
    let recording = recording
    subscription.disposable = stream.asObservable().subscribe { Self.append($0, to: recording) }
  }

  deinit { subscription.dispose() }

  public func on(_ event: Event<Element>) { Self.append(event, to: recording) }

  private static func append(_ event: Event<Element>, to recording: Recording<Event<Element>>) {
    recording.append(event, counts: !event.isStopEvent, isLast: event.isStopEvent)
  }

  /// Ends the subscription; what was recorded stays.
  public func dispose() { subscription.dispose() }

  /// All that was said.
  public var events: [Event<Element>] { recording.items }

  /// The elements.
  public var elements: [Element] { recording.items.compactMap(\.element) }

  /// The error with which it failed.
  public var error: (any Error)? { recording.items.last?.error }

  /// Whether it has completed.
  public var isCompleted: Bool { recording.items.last?.isCompleted ?? false }

  /// Waits for so many elements in all.
  ///
  /// - Returns: Whether there are as many. False if they did not come in time, if the stream stopped before,
  ///   or if the task was cancelled.
  public func wait(forCount count: Int, timeout: Duration = .seconds(60)) async -> Bool {
    await recording.wait(forCount: count, timeout: timeout)
  }

  /// Waits for the stream to complete or to fail.
  ///
  /// - Returns: Whether it has.
  public func waitForStop(timeout: Duration = .seconds(60)) async -> Bool {
    // More than there will ever be: only the end answers it.
    _ = await recording.wait(forCount: .max, timeout: timeout)
    return recording.items.last?.isStopEvent ?? false
  }
}

extension Recorder where Element: Equatable {
  /// What differs from the elements that should have come, for a test's message; nil if nothing does.
  public func difference(from expected: [Element]) -> String? {
    ReactorTesting.difference(of: elements, from: expected)
  }

  /// What differs from the events that should have come, for a test's message; nil if nothing does.
  public func difference(fromEvents expected: [Event<Element>]) -> String? {
    ReactorTesting.difference(of: events, from: expected)
  }
}
