/// Streams of elements that are known when they are made: values that allocate nothing, up to four elements.
extension Observable {
  /// Completes at once.
  @inlinable
  public static func empty() -> Observable { Observable(.none) }

  /// One element, then completes.
  @inlinable
  public static func just(_ element: Element) -> Observable { Observable(.one(element)) }

  /// One element, then completes; the same as ``just(_:)``.
  @inlinable
  public static func of(_ only: Element) -> Observable { .just(only) }

  /// The two elements in order, then completes.
  @inlinable
  public static func of(_ first: Element, _ second: Element) -> Observable {
    Observable(.two(first, second))
  }

  /// The three elements in order, then completes.
  @inlinable
  public static func of(_ first: Element, _ second: Element, _ third: Element) -> Observable {
    Observable(.three(first, second, third))
  }

  /// The four elements in order, then completes.
  @inlinable
  public static func of(
    _ first: Element, _ second: Element, _ third: Element, _ fourth: Element
  ) -> Observable {
    Observable(.four(first, second, third, fourth))
  }

  /// The elements in order, then completes; from five on they are an array.
  @inlinable
  public static func of(
    _ first: Element, _ second: Element, _ third: Element, _ fourth: Element, _ fifth: Element,
    _ more: Element...
  ) -> Observable {
    from([first, second, third, fourth, fifth] + more)
  }

  /// The elements of an array in order, then completes.
  @inlinable
  public static func from(_ elements: [Element]) -> Observable { Observable(.sequence(elements)) }

  /// Whether it is no more than elements, and then its end.
  @inlinable
  var isKnown: Bool { knownCount != nil }

  /// How many elements there are; nil if that is not known.
  @inlinable
  var knownCount: Int? {
    switch source {
    case .failure, .stream: nil
    case .none: 0
    case .one: 1
    case .two: 2
    case .three: 3
    case .four: 4
    case .sequence(let elements): elements.count
    }
  }

  /// Calls `body` with each element, in order, before it returns. For streams that are known.
  @inlinable
  func deliver(to body: (Element) -> Void) {
    deliver(to: body, orStream: { _ in preconditionFailure("not a stream of known elements") })
  }

  /// Calls `body` with each element, in order, before it returns; or `other` once, with this stream, if it is
  /// more than known elements.
  ///
  /// The stream is looked at only once, so that the compiler can do without it where `mutate` is inlined.
  @inlinable
  @inline(__always)
  func deliver(to body: (Element) -> Void, orStream other: (Observable) -> Void) {
    switch source {
    case .none:
      break
    case .one(let only):
      body(only)
    case .two(let first, let second):
      body(first)
      body(second)
    case .three(let first, let second, let third):
      body(first)
      body(second)
      body(third)
    case .four(let first, let second, let third, let fourth):
      body(first)
      body(second)
      body(third)
      body(fourth)
    case .sequence(let elements):
      for element in elements { body(element) }
    case .failure(let error):
      other(Observable(.failure(error)))
    case .stream(let run, let identity):
      other(Observable(.stream(run, identity: identity)))
    }
  }
}
