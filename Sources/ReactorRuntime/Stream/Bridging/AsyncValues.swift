import Synchronization

/// A stream as an asynchronous sequence, for `for await`.
extension ObservableType {
  /// The elements, for `for await`: the newest 1024 that have not been read yet.
  ///
  /// Each loop is a subscription. It begins with the loop and ends with it: when the loop is left, its task
  /// is cancelled, or its iterator is destroyed. A failure of the stream ends the loop, after what was
  /// received before, and is passed to ``Hooks/defaultErrorHandler``.
  ///
  /// A loop that falls more than 1024 elements behind misses the oldest ones, and so always gets to the last
  /// state. That is reported to ``Hooks/defaultErrorHandler``, as ``ValuesOverflow``, at the 1st, 2nd, 4th,
  /// 8th … element that is dropped. A loop that must not miss any reads ``throwingValues`` instead, which
  /// throws.
  public var values: AsyncValues<Element> {
    AsyncValues(asObservable(), .newest(ValuesOverflow.defaultCapacity), onDropped: nil)
  }

  /// As ``values``, with a buffer of your choice.
  ///
  /// - Parameters:
  ///   - buffering: What is kept for a slow loop.
  ///   - onDropped: Called with each element that is dropped, on the thread that emits. By default nothing
  ///     happens, because dropping is what was asked for.
  /// - Precondition: The number of elements kept is positive.
  public func values(
    buffering: ValuesBuffering, onDropped: @escaping @Sendable (Element) -> Void = { _ in }
  ) -> AsyncValues<Element> {
    AsyncValues(asObservable(), buffering, onDropped: onDropped)
  }

  /// The elements, for `for try await`: every one of them, in order, or an error.
  ///
  /// As ``values``, but the loop throws a failure of the stream, after what was received before. A loop that
  /// falls more than 1024 elements behind receives those 1024, and then throws ``ValuesOverflow``, because
  /// the next one was lost.
  public var throwingValues: AsyncThrowingValues<Element> {
    AsyncThrowingValues(asObservable(), .oldest(ValuesOverflow.defaultCapacity), onDropped: nil)
  }

  /// As ``throwingValues``, with a buffer of your choice. Dropped elements do not end the loop.
  ///
  /// - Parameters:
  ///   - buffering: What is kept for a slow loop.
  ///   - onDropped: Called with each element that is dropped, on the thread that emits. By default nothing
  ///     happens, because dropping is what was asked for.
  /// - Precondition: The number of elements kept is positive.
  public func throwingValues(
    buffering: ValuesBuffering, onDropped: @escaping @Sendable (Element) -> Void = { _ in }
  ) -> AsyncThrowingValues<Element> {
    AsyncThrowingValues(asObservable(), buffering, onDropped: onDropped)
  }
}

/// What is kept for a `for await` loop that is slower than the stream it reads.
public enum ValuesBuffering: Sendable, Equatable {
  /// Everything. Memory grows as long as the loop is slower.
  case unbounded
  /// That many of the oldest elements; later ones are dropped until there is room.
  case oldest(Int)
  /// That many of the newest elements; older ones are dropped. `.newest(1)` reads the last state.
  case newest(Int)

  fileprivate func requireRoom() {
    switch self {
    case .unbounded: break
    case .oldest(let count), .newest(let count):
      guard count > 0 else { fatalError("a for await loop needs room for at least one element") }
    }
  }

  fileprivate func policy<Element>() -> AsyncStream<Element>.Continuation.BufferingPolicy {
    switch self {
    case .unbounded: .unbounded
    case .oldest(let count): .bufferingOldest(count)
    case .newest(let count): .bufferingNewest(count)
    }
  }

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

/// A `for await` loop was so slow that elements of the stream it reads did not fit into its buffer.
public struct ValuesOverflow: Error, Equatable, Sendable, CustomStringConvertible {
  /// How many elements were kept for the loop.
  public let capacity: Int
  /// How many elements were dropped so far.
  public let dropped: Int

  public var description: String {
    """
    Problem: a for await loop missed elements of its stream, \(dropped) so far.
    Likely cause: it fell more than \(capacity) elements behind.
    Remedy: do less in the loop, or choose what is kept by values(buffering:).
    """
  }

  /// How many elements are kept where nothing else was asked for.
  public static let defaultCapacity = 1024
}

/// The asynchronous sequence that ``ObservableType/values`` returns.
public struct AsyncValues<Element: Sendable>: AsyncSequence, Sendable {
  public typealias Failure = Never

  private let source: Observable<Element>
  private let policy: AsyncStream<Element>.Continuation.BufferingPolicy
  /// Nil if losses are reported to the hook.
  private let onDropped: (@Sendable (Element) -> Void)?

  fileprivate init(
    _ source: Observable<Element>, _ buffering: ValuesBuffering, onDropped: (@Sendable (Element) -> Void)?
  ) {
    self.source = source
    buffering.requireRoom()
    policy = buffering.policy()
    self.onDropped = onDropped
  }

  /// Subscribes to the stream. Elements are buffered from now on.
  public func makeAsyncIterator() -> AsyncStream<Element>.Iterator {
    let (stream, continuation) = AsyncStream<Element>.makeStream(bufferingPolicy: policy)
    let onDropped = onDropped ?? LossReporter(capacity: ValuesOverflow.defaultCapacity).report
    let subscription = SingleAssignmentDisposable()
    // Called at the end of any kind, also when the iterator is destroyed.
    continuation.onTermination = { _ in subscription.dispose() }
    subscription.hold(
      source.subscribe { event in
        switch event {
        case .next(let element):
          if case .dropped(let lost) = continuation.yield(element) { onDropped(lost) }
        case .error(let error):
          Hooks.defaultErrorHandler(error)
          continuation.finish()
        case .completed: continuation.finish()
        }
      })
    return stream.makeAsyncIterator()
  }
}

/// Counts what one loop missed, and reports it at each power of two.
private final class LossReporter<Element: Sendable>: Sendable {
  private let capacity: Int
  private let count = Atomic(0)

  init(capacity: Int) { self.capacity = capacity }

  func report(_: Element) {
    // Relaxed: a count, which publishes nothing.
    let dropped = count.wrappingAdd(1, ordering: .relaxed).newValue
    if dropped & (dropped - 1) != 0 { return }
    Hooks.defaultErrorHandler(ValuesOverflow(capacity: capacity, dropped: dropped))
  }
}

/// The asynchronous sequence that ``ObservableType/throwingValues`` returns.
public struct AsyncThrowingValues<Element: Sendable>: AsyncSequence, Sendable {
  public typealias Failure = any Error

  private let source: Observable<Element>
  private let policy: AsyncThrowingStream<Element, any Error>.Continuation.BufferingPolicy
  /// Nil if a loss ends the loop.
  private let onDropped: (@Sendable (Element) -> Void)?

  fileprivate init(
    _ source: Observable<Element>, _ buffering: ValuesBuffering, onDropped: (@Sendable (Element) -> Void)?
  ) {
    self.source = source
    buffering.requireRoom()
    policy = buffering.policy()
    self.onDropped = onDropped
  }

  /// Subscribes to the stream. Elements are buffered from now on.
  public func makeAsyncIterator() -> AsyncThrowingStream<Element, any Error>.Iterator {
    let (stream, continuation) = AsyncThrowingStream<Element, any Error>.makeStream(bufferingPolicy: policy)
    let onDropped =
      onDropped ?? { _ in
        continuation.finish(
          throwing: ValuesOverflow(capacity: ValuesOverflow.defaultCapacity, dropped: 1))
      }
    let subscription = SingleAssignmentDisposable()
    // Called at the end of any kind, also when the iterator is destroyed.
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
