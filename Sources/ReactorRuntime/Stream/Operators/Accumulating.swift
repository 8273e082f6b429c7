// Operators with one source that send something when it completes, and small ones that count or hold an object.

/// What is left of a stream when it has completed.
extension ObservableType {
  /// Sends one element when this stream has completed: what `accumulator` has made of `seed` and all elements. Fails if it
  /// throws.
  public func reduce<Result>(
    _ seed: Result, accumulator: @escaping @Sendable (Result, Element) throws -> Result
  ) -> Observable<Result> { reduce(seed, accumulator: accumulator, mapResult: { $0 }) }

  /// As ``reduce(_:accumulator:)``, and transforms the result. Fails if a closure throws.
  public func reduce<Accumulated: Sendable, Result>(
    _ seed: Accumulated, accumulator: @escaping @Sendable (Accumulated, Element) throws -> Accumulated,
    mapResult: @escaping @Sendable (Accumulated) throws -> Result
  ) -> Observable<Result> {
    lift(
      seed, { sink, element in sink.state = try accumulator(sink.state, element) },
      atEnd: { sink in sink.next(try mapResult(sink.state)) })
  }

  /// Sends the last `count` elements when this stream has completed. They are held in memory until then.
  ///
  /// - Precondition: `count` is not negative.
  public func takeLast(_ count: Int) -> Observable<Element> {
    guard count >= 0 else { fatalError("no negative number of elements can be taken") }
    return lift(
      RecentElements<Element>(limit: count), { sink, element in _ = sink.state.append(element) },
      atEnd: { sink in for element in sink.state.all { sink.next(element) } })
  }
}

/// Elements with something beside them.
extension ObservableType {
  /// Sends each element with its number, from 0 on.
  public func enumerated() -> Observable<(index: Int, element: Element)> {
    lift(0) { sink, element in
      let index = sink.state
      sink.state += 1
      sink.next((index: index, element: element))
    }
  }

  /// Sends what `resultSelector` returns for an object and each element. Does not retain the object; completes at the
  /// first element after it is gone.
  public func withUnretained<Object: AnyObject & Sendable, Result>(
    _ object: Object, resultSelector: @escaping @Sendable (Object, Element) -> Result
  ) -> Observable<Result> {
    lift(()) { [weak object] sink, element in
      guard let object else { return sink.complete() }
      sink.next(resultSelector(object, element))
    }
  }

  /// Sends each element with an object; see ``withUnretained(_:resultSelector:)``.
  public func withUnretained<Object: AnyObject & Sendable>(
    _ object: Object
  ) -> Observable<(Object, Element)> { withUnretained(object) { ($0, $1) } }

  /// Leaves out the elements that are nil.
  @inlinable
  public func filterNil<Wrapped: Sendable>() -> Observable<Wrapped> where Element == Wrapped? {
    compactMap { $0 }
  }
}
