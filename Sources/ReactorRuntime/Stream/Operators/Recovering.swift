/// Going on after a failure.
extension ObservableType {
  /// This stream; if it fails, then the one that `handler` makes of the error. Fails if `handler` throws.
  ///
  /// The failed subscription is ended when the next one has begun: if both share a source, that goes on.
  @inlinable
  public func `catch`(
    _ handler: @escaping @Sendable (any Error) throws -> Observable<Element>
  ) -> Observable<Element> {
    let source = asObservable()
    if source.isKnown { return source }
    return Succession.stream(source, from: false, endsFirst: false) { wasCaught, event in
      guard !wasCaught, let error = event.error else { return nil }
      wasCaught = true
      return try handler(error)
    }
  }

  /// This stream; if it fails, then `element` and a good end.
  @inlinable
  public func catchAndReturn(_ element: Element) -> Observable<Element> {
    if case .failure = asObservable().source { return .just(element) }
    return `catch` { _ in .just(element) }
  }

  /// This stream, subscribed to again whenever it fails. One that fails at once each time keeps the
  /// subscriber's thread busy until the subscription is disposed.
  ///
  /// The failed subscription is ended before the next one begins: what nobody else shares begins anew.
  @inlinable
  public func retry() -> Observable<Element> {
    let source = asObservable()
    if source.isKnown { return source }
    return Succession.stream(source, from: ()) { _, event in event.isCompleted ? nil : source }
  }

  /// This stream, subscribed to again when it fails, so that it is subscribed to `maxAttemptCount` times at
  /// most; `retry(2)` tries again once. With a count of 0 or less it is empty.
  ///
  /// The failed subscription is ended before the next one begins: what nobody else shares begins anew.
  @inlinable
  public func retry(_ maxAttemptCount: Int) -> Observable<Element> {
    let source = asObservable()
    if maxAttemptCount <= 0 { return .empty() }
    if source.isKnown || maxAttemptCount == 1 { return source }
    return Succession.stream(source, from: maxAttemptCount - 1) { left, event in
      if event.isCompleted || left == 0 { return nil }
      left -= 1
      return source
    }
  }
}
