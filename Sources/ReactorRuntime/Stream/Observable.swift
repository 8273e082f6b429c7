/// A stream of elements: what ``Reactor/mutate(action:)`` answers.
///
/// Up to four elements that are known at once are a value, not an object: making such a stream and going
/// through it allocates nothing.
public struct Observable<Element: Sendable>: Sendable {
  /// Grows with the kinds of streams; not meant to be matched outside the runtime.
  @usableFromInline
  enum Source: Sendable {
    case none
    case one(Element)
    case two(Element, Element)
    case three(Element, Element, Element)
    case four(Element, Element, Element, Element)
    case sequence([Element])
  }

  @usableFromInline let source: Source

  @inlinable
  init(_ source: Source) { self.source = source }

  /// Completes at once.
  @inlinable
  public static func empty() -> Observable { Observable(.none) }

  /// One element, then completes.
  @inlinable
  public static func just(_ element: Element) -> Observable { Observable(.one(element)) }

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

  /// Calls `body` with each element, in order, before it returns.
  @inlinable
  @inline(__always)
  func deliver(to body: (Element) -> Void) {
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
    }
  }
}
