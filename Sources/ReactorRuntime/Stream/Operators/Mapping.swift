/// Each element by itself: changed, or left out.
extension ObservableType {
  /// The elements, each changed by `transform`; fails if that throws.
  @inlinable
  public func map<Result>(
    _ transform: @escaping @Sendable (Element) throws -> Result
  ) -> Observable<Result> {
    lift(()) { sink, element in sink.next(try transform(element)) }
  }

  /// The elements, each changed by `transform`, without those for which it answers nil; fails if that throws.
  @inlinable
  public func compactMap<Result>(
    _ transform: @escaping @Sendable (Element) throws -> Result?
  ) -> Observable<Result> {
    lift(()) { sink, element in if let result = try transform(element) { sink.next(result) } }
  }

  /// The elements for which `predicate` answers true; fails if that throws.
  @inlinable
  public func filter(_ predicate: @escaping @Sendable (Element) throws -> Bool) -> Observable<Element> {
    lift(()) { sink, element in if try predicate(element) { sink.next(element) } }
  }

  /// The end of this stream, without its elements.
  @inlinable
  public func ignoreElements() -> Observable<Never> { lift(()) { _, _ in } }
}
