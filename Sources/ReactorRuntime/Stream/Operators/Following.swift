// A second stream in the place of one that ends: `catch`; and `andThen` and `ifEmpty(switchTo:)` of traits.

/// Going on after a failure.
extension ObservableType {
  /// Sends this stream; if it fails, then the stream that `handler` returns for the error. Fails if `handler`
  /// throws.
  ///
  /// The failed subscription is disposed of after the next one has begun. So a source that both share goes
  /// on.
  @inlinable
  public func `catch`(
    _ handler: @escaping @Sendable (any Error) throws -> Observable<Element>
  ) -> Observable<Element> {
    let source = asObservable()
    if source.isKnown { return source }
    return source.followed { event in try event.error.map(handler) }
  }

  /// Sends this stream, and then the one that `successor` returns for its stop event; nil if the result ends with that. Then
  /// the subscription that has ended is disposed of after the next one has begun, so a source that both share goes on.
  @inlinable
  func followed(
    _ successor: @escaping FollowedSubscription<Element>.Successor
  ) -> Observable<Element> {
    let source = asObservable()
    return Observable { observer in FollowedSubscription.start(source, observer, successor) }
  }

  /// Sends this stream; if it fails, sends `element` and completes.
  @inlinable
  public func catchAndReturn(_ element: Element) -> Observable<Element> {
    if case .failure = asObservable().source { return .just(element) }
    return `catch` { _ in .just(element) }
  }
}

/// One subscription of an operator that goes on with a second stream when the first one ends: at once, inside of the stop event, so
/// that the first one is not disposed of before.
@usableFromInline
final class FollowedSubscription<Element: Sendable>: Sink<Element>, @unchecked Sendable {
  // Unchecked: only the thread of the first stream's events touches the variable.

  /// Returns the stream that follows a stop event; nil if the result ends with that event.
  @usableFromInline
  typealias Successor = @Sendable (Event<Element>) throws -> Observable<Element>?

  @usableFromInline let successor: Successor
  @usableFromInline let streams = Streams()
  /// Whether the second stream has begun. Then the first one counts no more, whatever it sends.
  @exclusivity(unchecked) @usableFromInline var isFollowed = false

  /// The subscriptions to both streams.
  @usableFromInline
  struct Streams: Disposable {
    @usableFromInline let first = SingleAssignmentDisposable()
    @usableFromInline let second = SingleAssignmentDisposable()

    @usableFromInline init() {}

    @usableFromInline
    func dispose() {
      first.dispose()
      second.dispose()
    }
  }

  @inlinable
  init(_ observer: AnyObserver<Element>, _ successor: @escaping Successor) {
    self.successor = successor
    super.init(observer)
  }

  @inlinable
  static func start(
    _ stream: Observable<Element>, _ observer: AnyObserver<Element>, _ successor: @escaping Successor
  ) -> any Disposable {
    let subscription = FollowedSubscription(observer, successor)
    subscription.hold(subscription.streams)
    stream.run(
      AnyObserver { event in
        if subscription.isFollowed { return }
        if case .next(let element) = event {
          subscription.next(element)
        } else {
          subscription.follow(event)
        }
      }, heldBy: subscription.streams.first)
    return subscription
  }

  @inlinable
  func follow(_ event: Event<Element>) {
    if isOver { return }
    isFollowed = true
    do {
      guard let stream = try successor(event) else { return stop(event) }
      stream.run(AnyObserver { [self] event in on(event) }, heldBy: streams.second)
      streams.first.dispose()
    } catch {
      fail(error)
    }
  }
}
