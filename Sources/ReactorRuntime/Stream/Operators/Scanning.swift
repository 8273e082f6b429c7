/// What has come together up to each element.
extension ObservableType {
  /// After each element, what `accumulator` has made of the previous result, at first of `seed`, and the
  /// element. The seed itself is not sent. Fails if `accumulator` throws.
  @inlinable
  public func scan<Result>(
    _ seed: Result, accumulator: @escaping @Sendable (Result, Element) throws -> Result
  ) -> Observable<Result> {
    lift(seed) { sink, element in
      sink.state = try accumulator(sink.state, element)
      sink.next(sink.state)
    }
  }

  /// As ``scan(_:accumulator:)``, with an accumulator that changes the result in place.
  @inlinable
  public func scan<Result>(
    into seed: Result, accumulator: @escaping @Sendable (inout Result, Element) throws -> Void
  ) -> Observable<Result> {
    lift(seed) { sink, element in
      try accumulator(&sink.state, element)
      sink.next(sink.state)
    }
  }
}
