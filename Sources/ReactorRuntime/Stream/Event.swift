/// What a stream tells its observers: elements, then at most one of the two ends.
///
/// The grammar is that of Rx: any number of ``next(_:)``, then nothing, or ``error(_:)``, or ``completed``.
/// One observer of one subscription gets one event at a time, and each event happens after the one before.
public enum Event<Element: Sendable>: Sendable {
  /// An element.
  case next(Element)
  /// The stream has failed; nothing follows.
  case error(any Error)
  /// The stream has ended well; nothing follows.
  case completed
}

extension Event {
  /// The element of a ``next(_:)``.
  @inlinable
  public var element: Element? { if case .next(let element) = self { element } else { nil } }

  /// The error of an ``error(_:)``.
  @inlinable
  public var error: (any Error)? { if case .error(let error) = self { error } else { nil } }

  /// Whether this is ``completed``.
  @inlinable
  public var isCompleted: Bool { if case .completed = self { true } else { false } }

  /// Whether nothing may follow.
  @inlinable
  public var isStopEvent: Bool { if case .next = self { false } else { true } }

  /// The event with its element changed; an error if `transform` throws.
  @inlinable
  public func map<Result>(_ transform: (Element) throws -> Result) -> Event<Result> {
    switch self {
    case .next(let element):
      do { return .next(try transform(element)) } catch { return .error(error) }
    case .error(let error): return .error(error)
    case .completed: return .completed
    }
  }
}

extension Event: CustomStringConvertible {
  public var description: String {
    switch self {
    case .next(let element): "next(\(element))"
    case .error(let error): "error(\(error))"
    case .completed: "completed"
    }
  }
}
