// Operators with one source that handle each element by itself, or with what the elements before it have
// left.

/// Elements that are transformed or left out one by one.
extension ObservableType {
  /// Transforms each element. Fails if `transform` throws.
  @inlinable
  public func map<Result>(
    _ transform: @escaping @Sendable (Element) throws -> Result
  ) -> Observable<Result> {
    lift(()) { sink, element in sink.next(try transform(element)) }
  }

  /// Transforms each element, and leaves out those for which `transform` returns nil. Fails if it throws.
  @inlinable
  public func compactMap<Result>(
    _ transform: @escaping @Sendable (Element) throws -> Result?
  ) -> Observable<Result> {
    lift(()) { sink, element in if let result = try transform(element) { sink.next(result) } }
  }

  /// Passes on the elements for which `predicate` returns true. Fails if it throws.
  @inlinable
  public func filter(_ predicate: @escaping @Sendable (Element) throws -> Bool) -> Observable<Element> {
    lift(()) { sink, element in if try predicate(element) { sink.next(element) } }
  }

  /// Passes on the stop event of this stream, but no elements.
  @inlinable
  public func ignoreElements() -> Observable<Never> { lift(()) { _, _ in } }
}

/// Elements that are accumulated.
extension ObservableType {
  /// Sends, after each element, what `accumulator` returns for the previous result, at first `seed`, and the
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

/// Elements without repetitions.
extension ObservableType {
  /// Leaves out elements that are equal to the one before.
  @inlinable
  public func distinctUntilChanged() -> Observable<Element> where Element: Equatable {
    distinctUntilChanged({ $0 }, comparer: { $0 == $1 })
  }

  /// Leaves out elements whose key is equal to that of the one before. Fails if `keySelector` throws.
  @inlinable
  public func distinctUntilChanged<Key: Equatable & Sendable>(
    _ keySelector: @escaping @Sendable (Element) throws -> Key
  ) -> Observable<Element> {
    distinctUntilChanged(keySelector, comparer: { $0 == $1 })
  }

  /// Leaves out elements for which `comparer` returns true, called with the last element that was sent and
  /// this one. Fails if it throws.
  @inlinable
  public func distinctUntilChanged(
    _ comparer: @escaping @Sendable (Element, Element) throws -> Bool
  ) -> Observable<Element> {
    distinctUntilChanged({ $0 }, comparer: comparer)
  }

  /// Leaves out elements whose property is equal to that of the one before.
  @inlinable
  public func distinctUntilChanged<Property: Equatable & Sendable>(
    at keyPath: KeyPath<Element, Property> & Sendable
  ) -> Observable<Element> {
    distinctUntilChanged { $0[keyPath: keyPath] == $1[keyPath: keyPath] }
  }

  /// Leaves out elements for which `comparer` returns true, called with the key of the last element that was
  /// sent and the key of this one. Fails if `keySelector` or `comparer` throws.
  @inlinable
  public func distinctUntilChanged<Key: Sendable>(
    _ keySelector: @escaping @Sendable (Element) throws -> Key,
    comparer: @escaping @Sendable (Key, Key) throws -> Bool
  ) -> Observable<Element> {
    lift(Key?.none) { sink, element in
      let key = try keySelector(element)
      if let last = sink.state, try comparer(last, key) { return }
      sink.state = key
      sink.next(element)
    }
  }
}
