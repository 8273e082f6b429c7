/// Several singles, or several maybes, as one.
///
/// Fails as soon as one of them fails. Of maybes, one that is empty makes the result empty.
extension PrimitiveSequence where Trait: ElementTrait {
  /// What `resultSelector` returns for the elements of both.
  public static func zip<A, B>(
    _ source1: PrimitiveSequence<Trait, A>, _ source2: PrimitiveSequence<Trait, B>,
    resultSelector: @escaping @Sendable (A, B) throws -> Element
  ) -> PrimitiveSequence<Trait, Element> {
    PrimitiveSequence(trusted: .zip(source1, source2, resultSelector: resultSelector))
  }

  /// The elements of both.
  public static func zip<A, B>(
    _ source1: PrimitiveSequence<Trait, A>, _ source2: PrimitiveSequence<Trait, B>
  ) -> PrimitiveSequence<Trait, (A, B)> where Element == (A, B) {
    zip(source1, source2) { ($0, $1) }
  }

  /// What `resultSelector` returns for the elements of all three.
  public static func zip<A, B, C>(
    _ source1: PrimitiveSequence<Trait, A>, _ source2: PrimitiveSequence<Trait, B>,
    _ source3: PrimitiveSequence<Trait, C>,
    resultSelector: @escaping @Sendable (A, B, C) throws -> Element
  ) -> PrimitiveSequence<Trait, Element> {
    PrimitiveSequence(trusted: .zip(source1, source2, source3, resultSelector: resultSelector))
  }

  /// The elements of all three.
  public static func zip<A, B, C>(
    _ source1: PrimitiveSequence<Trait, A>, _ source2: PrimitiveSequence<Trait, B>,
    _ source3: PrimitiveSequence<Trait, C>
  ) -> PrimitiveSequence<Trait, (A, B, C)> where Element == (A, B, C) {
    zip(source1, source2, source3) { ($0, $1, $2) }
  }

  /// What `resultSelector` returns for the elements of all four.
  public static func zip<A, B, C, D>(
    _ source1: PrimitiveSequence<Trait, A>, _ source2: PrimitiveSequence<Trait, B>,
    _ source3: PrimitiveSequence<Trait, C>, _ source4: PrimitiveSequence<Trait, D>,
    resultSelector: @escaping @Sendable (A, B, C, D) throws -> Element
  ) -> PrimitiveSequence<Trait, Element> {
    PrimitiveSequence(trusted: .zip(source1, source2, source3, source4, resultSelector: resultSelector))
  }

  /// The elements of all four.
  public static func zip<A, B, C, D>(
    _ source1: PrimitiveSequence<Trait, A>, _ source2: PrimitiveSequence<Trait, B>,
    _ source3: PrimitiveSequence<Trait, C>, _ source4: PrimitiveSequence<Trait, D>
  ) -> PrimitiveSequence<Trait, (A, B, C, D)> where Element == (A, B, C, D) {
    zip(source1, source2, source3, source4) { ($0, $1, $2, $3) }
  }

  /// What `resultSelector` returns for the elements of all five.
  public static func zip<A, B, C, D, E>(
    _ source1: PrimitiveSequence<Trait, A>, _ source2: PrimitiveSequence<Trait, B>,
    _ source3: PrimitiveSequence<Trait, C>, _ source4: PrimitiveSequence<Trait, D>,
    _ source5: PrimitiveSequence<Trait, E>,
    resultSelector: @escaping @Sendable (A, B, C, D, E) throws -> Element
  ) -> PrimitiveSequence<Trait, Element> {
    PrimitiveSequence(
      trusted: .zip(source1, source2, source3, source4, source5, resultSelector: resultSelector))
  }

  /// The elements of all five.
  public static func zip<A, B, C, D, E>(
    _ source1: PrimitiveSequence<Trait, A>, _ source2: PrimitiveSequence<Trait, B>,
    _ source3: PrimitiveSequence<Trait, C>, _ source4: PrimitiveSequence<Trait, D>,
    _ source5: PrimitiveSequence<Trait, E>
  ) -> PrimitiveSequence<Trait, (A, B, C, D, E)> where Element == (A, B, C, D, E) {
    zip(source1, source2, source3, source4, source5) { ($0, $1, $2, $3, $4) }
  }

  /// What `resultSelector` returns for the elements of all six.
  public static func zip<A, B, C, D, E, F>(
    _ source1: PrimitiveSequence<Trait, A>, _ source2: PrimitiveSequence<Trait, B>,
    _ source3: PrimitiveSequence<Trait, C>, _ source4: PrimitiveSequence<Trait, D>,
    _ source5: PrimitiveSequence<Trait, E>, _ source6: PrimitiveSequence<Trait, F>,
    resultSelector: @escaping @Sendable (A, B, C, D, E, F) throws -> Element
  ) -> PrimitiveSequence<Trait, Element> {
    PrimitiveSequence(
      trusted: .zip(source1, source2, source3, source4, source5, source6, resultSelector: resultSelector))
  }

  /// The elements of all six.
  public static func zip<A, B, C, D, E, F>(
    _ source1: PrimitiveSequence<Trait, A>, _ source2: PrimitiveSequence<Trait, B>,
    _ source3: PrimitiveSequence<Trait, C>, _ source4: PrimitiveSequence<Trait, D>,
    _ source5: PrimitiveSequence<Trait, E>, _ source6: PrimitiveSequence<Trait, F>
  ) -> PrimitiveSequence<Trait, (A, B, C, D, E, F)> where Element == (A, B, C, D, E, F) {
    zip(source1, source2, source3, source4, source5, source6) { ($0, $1, $2, $3, $4, $5) }
  }

  /// What `resultSelector` returns for the elements of all seven.
  public static func zip<A, B, C, D, E, F, G>(
    _ source1: PrimitiveSequence<Trait, A>, _ source2: PrimitiveSequence<Trait, B>,
    _ source3: PrimitiveSequence<Trait, C>, _ source4: PrimitiveSequence<Trait, D>,
    _ source5: PrimitiveSequence<Trait, E>, _ source6: PrimitiveSequence<Trait, F>,
    _ source7: PrimitiveSequence<Trait, G>,
    resultSelector: @escaping @Sendable (A, B, C, D, E, F, G) throws -> Element
  ) -> PrimitiveSequence<Trait, Element> {
    PrimitiveSequence(
      trusted: .zip(
        source1, source2, source3, source4, source5, source6, source7, resultSelector: resultSelector))
  }

  /// The elements of all seven.
  public static func zip<A, B, C, D, E, F, G>(
    _ source1: PrimitiveSequence<Trait, A>, _ source2: PrimitiveSequence<Trait, B>,
    _ source3: PrimitiveSequence<Trait, C>, _ source4: PrimitiveSequence<Trait, D>,
    _ source5: PrimitiveSequence<Trait, E>, _ source6: PrimitiveSequence<Trait, F>,
    _ source7: PrimitiveSequence<Trait, G>
  ) -> PrimitiveSequence<Trait, (A, B, C, D, E, F, G)> where Element == (A, B, C, D, E, F, G) {
    zip(source1, source2, source3, source4, source5, source6, source7) { ($0, $1, $2, $3, $4, $5, $6) }
  }

  /// What `resultSelector` returns for the elements of all eight.
  public static func zip<A, B, C, D, E, F, G, H>(
    _ source1: PrimitiveSequence<Trait, A>, _ source2: PrimitiveSequence<Trait, B>,
    _ source3: PrimitiveSequence<Trait, C>, _ source4: PrimitiveSequence<Trait, D>,
    _ source5: PrimitiveSequence<Trait, E>, _ source6: PrimitiveSequence<Trait, F>,
    _ source7: PrimitiveSequence<Trait, G>, _ source8: PrimitiveSequence<Trait, H>,
    resultSelector: @escaping @Sendable (A, B, C, D, E, F, G, H) throws -> Element
  ) -> PrimitiveSequence<Trait, Element> {
    PrimitiveSequence(
      trusted: .zip(
        source1, source2, source3, source4, source5, source6, source7, source8, resultSelector: resultSelector
      ))
  }

  /// The elements of all eight.
  public static func zip<A, B, C, D, E, F, G, H>(
    _ source1: PrimitiveSequence<Trait, A>, _ source2: PrimitiveSequence<Trait, B>,
    _ source3: PrimitiveSequence<Trait, C>, _ source4: PrimitiveSequence<Trait, D>,
    _ source5: PrimitiveSequence<Trait, E>, _ source6: PrimitiveSequence<Trait, F>,
    _ source7: PrimitiveSequence<Trait, G>, _ source8: PrimitiveSequence<Trait, H>
  ) -> PrimitiveSequence<Trait, (A, B, C, D, E, F, G, H)> where Element == (A, B, C, D, E, F, G, H) {
    zip(source1, source2, source3, source4, source5, source6, source7, source8) {
      ($0, $1, $2, $3, $4, $5, $6, $7)
    }
  }
}
