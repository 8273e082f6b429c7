/// A stream as an asynchronous sequence that throws its failure.
extension ObservableType {
  /// The elements, for `for try await`: every one of them, in order, or an error.
  ///
  /// As ``values``, but a failure of the stream is thrown by the loop, after what was received before. So is
  /// ``ValuesOverflow`` by a loop that falls more than 1024 elements behind: it is told those 1024, and then
  /// that the next one was lost.
  public var throwingValues: AsyncThrowingValues<Element> {
    AsyncThrowingValues(asObservable(), .oldest(ValuesOverflow.defaultCapacity), onDropped: nil)
  }

  /// As ``throwingValues``, keeping what is asked for; what is dropped then does not end the loop.
  ///
  /// - Parameters:
  ///   - buffering: What is kept for a slow loop.
  ///   - onDropped: Called with each element that is dropped, on the thread that emits. By default nothing is
  ///     done: it is what was asked for.
  /// - Precondition: The number of elements kept is positive.
  public func throwingValues(
    buffering: ValuesBuffering, onDropped: @escaping @Sendable (Element) -> Void = { _ in }
  ) -> AsyncThrowingValues<Element> {
    AsyncThrowingValues(asObservable(), buffering, onDropped: onDropped)
  }
}

/// What ``ObservableType/throwingValues`` answers.
public struct AsyncThrowingValues<Element: Sendable>: AsyncSequence, Sendable {
  public typealias Failure = any Error

  private let source: Observable<Element>
  private let policy: AsyncThrowingStream<Element, any Error>.Continuation.BufferingPolicy
  /// Nil if a loss ends the loop.
  private let onDropped: (@Sendable (Element) -> Void)?

  init(
    _ source: Observable<Element>, _ buffering: ValuesBuffering, onDropped: (@Sendable (Element) -> Void)?
  ) {
    self.source = source
    buffering.requireRoom()
    policy = buffering.policy()
    self.onDropped = onDropped
  }

  /// Subscribes.
  public func makeAsyncIterator() -> AsyncThrowingStream<Element, any Error>.Iterator {
    let (stream, continuation) = AsyncThrowingStream<Element, any Error>.makeStream(bufferingPolicy: policy)
    let onDropped =
      onDropped ?? { _ in
        continuation.finish(
          throwing: ValuesOverflow(capacity: ValuesOverflow.defaultCapacity, dropped: 1))
      }
    let subscription = SingleAssignmentDisposable()
    // Called at the end of any kind, also when the iterator goes away.
    continuation.onTermination = { _ in subscription.dispose() }
    subscription.hold(
      source.subscribe { event in
        switch event {
        case .next(let element):
          if case .dropped(let lost) = continuation.yield(element) { onDropped(lost) }
        case .error(let error): continuation.finish(throwing: error)
        case .completed: continuation.finish()
        }
      })
    return stream.makeAsyncIterator()
  }
}

extension ValuesBuffering {
  fileprivate func policy<Element>()
    -> AsyncThrowingStream<Element, any Error>.Continuation.BufferingPolicy
  {
    switch self {
    case .unbounded: .unbounded
    case .oldest(let count): .bufferingOldest(count)
    case .newest(let count): .bufferingNewest(count)
    }
  }
}
