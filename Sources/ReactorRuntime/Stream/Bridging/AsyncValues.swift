import Synchronization

/// A stream as an asynchronous sequence that does not throw.
extension ObservableType {
  /// The elements, for `for await`: the newest 1024 that were not read yet.
  ///
  /// Each loop is a subscription, which begins with the loop and ends with it: when the loop is left, its
  /// task is cancelled, or its iterator is gone. A failure of the stream ends the loop after what was
  /// received before, and goes to ``Hooks/defaultErrorHandler``.
  ///
  /// A loop that falls more than 1024 elements behind misses the oldest and so always gets to the last state.
  /// That is reported to ``Hooks/defaultErrorHandler``, as ``ValuesOverflow``, at the 1st, 2nd, 4th, 8th …
  /// element that is dropped. A loop that must not miss any reads ``throwingValues``, which then throws.
  public var values: AsyncValues<Element> {
    AsyncValues(asObservable(), .newest(ValuesOverflow.defaultCapacity), onDropped: nil)
  }

  /// As ``values``, keeping what is asked for.
  ///
  /// - Parameters:
  ///   - buffering: What is kept for a slow loop.
  ///   - onDropped: Called with each element that is dropped, on the thread that emits. By default nothing is
  ///     done: it is what was asked for.
  /// - Precondition: The number of elements kept is positive.
  public func values(
    buffering: ValuesBuffering, onDropped: @escaping @Sendable (Element) -> Void = { _ in }
  ) -> AsyncValues<Element> {
    AsyncValues(asObservable(), buffering, onDropped: onDropped)
  }
}

/// What ``ObservableType/values`` answers.
public struct AsyncValues<Element: Sendable>: AsyncSequence, Sendable {
  public typealias Failure = Never

  private let source: Observable<Element>
  private let policy: AsyncStream<Element>.Continuation.BufferingPolicy
  /// Nil if losses are reported to the hook.
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
  public func makeAsyncIterator() -> AsyncStream<Element>.Iterator {
    let (stream, continuation) = AsyncStream<Element>.makeStream(bufferingPolicy: policy)
    let onDropped = onDropped ?? Losses(capacity: ValuesOverflow.defaultCapacity).report
    let subscription = SingleAssignmentDisposable()
    // Called at the end of any kind, also when the iterator goes away.
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

/// Counts what one loop missed, and reports it ever more rarely.
private final class Losses<Element: Sendable>: Sendable {
  private let capacity: Int
  private let count = Atomic(0)

  init(capacity: Int) { self.capacity = capacity }

  func report(_: Element) {
    // Relaxed: a number, and nothing that it announces.
    let dropped = count.wrappingAdd(1, ordering: .relaxed).newValue
    if dropped & (dropped - 1) != 0 { return }
    Hooks.defaultErrorHandler(ValuesOverflow(capacity: capacity, dropped: dropped))
  }
}

extension ValuesBuffering {
  fileprivate func policy<Element>() -> AsyncStream<Element>.Continuation.BufferingPolicy {
    switch self {
    case .unbounded: .unbounded
    case .oldest(let count): .bufferingOldest(count)
    case .newest(let count): .bufferingNewest(count)
    }
  }
}
