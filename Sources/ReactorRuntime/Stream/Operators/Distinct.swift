/// Elements without those that say nothing new.
extension ObservableType {
  /// The elements, without those that are equal to the one before.
  @inlinable
  public func distinctUntilChanged() -> Observable<Element> where Element: Equatable {
    distinctUntilChanged({ $0 }, comparer: { $0 == $1 })
  }

  /// The elements, without those whose key is equal to that of the one before; fails if `keySelector` throws.
  @inlinable
  public func distinctUntilChanged<Key: Equatable & Sendable>(
    _ keySelector: @escaping @Sendable (Element) throws -> Key
  ) -> Observable<Element> {
    distinctUntilChanged(keySelector, comparer: { $0 == $1 })
  }

  /// The elements, without those that `comparer` holds equal to the one before; fails if it throws.
  @inlinable
  public func distinctUntilChanged(
    _ comparer: @escaping @Sendable (Element, Element) throws -> Bool
  ) -> Observable<Element> {
    distinctUntilChanged({ $0 }, comparer: comparer)
  }

  /// The elements, without those whose property is equal to that of the one before.
  @inlinable
  public func distinctUntilChanged<Property: Equatable & Sendable>(
    at keyPath: KeyPath<Element, Property> & Sendable
  ) -> Observable<Element> {
    distinctUntilChanged { $0[keyPath: keyPath] == $1[keyPath: keyPath] }
  }

  /// The elements, without those whose key `comparer` holds equal to that of the last that was sent; fails if
  /// `keySelector` or `comparer` throws.
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
