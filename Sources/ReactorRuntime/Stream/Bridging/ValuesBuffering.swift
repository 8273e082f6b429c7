/// What is kept for a `for await` loop that is slower than the stream it reads.
public enum ValuesBuffering: Sendable, Equatable {
  /// Everything. Memory grows as long as the loop is slower.
  case unbounded
  /// The oldest elements, so many; later ones are dropped until there is room.
  case oldest(Int)
  /// The newest elements, so many; older ones are dropped. `.newest(1)` reads the last state.
  case newest(Int)

  func requireRoom() {
    switch self {
    case .unbounded: break
    case .oldest(let count), .newest(let count):
      precondition(count > 0, "a for await loop needs room for at least one element")
    }
  }
}

/// A `for await` loop was so slow that elements of the stream it reads did not fit.
public struct ValuesOverflow: Error, Equatable, Sendable, CustomStringConvertible {
  /// How many were kept for the loop.
  public let capacity: Int
  /// How many were dropped so far.
  public let dropped: Int

  public var description: String {
    """
    Problem: a for await loop missed elements of its stream, \(dropped) so far.
    Likely cause: it fell more than \(capacity) elements behind.
    Remedy: do less in the loop, or choose what is kept by values(buffering:).
    """
  }

  /// How many elements are kept where nothing else was asked for.
  public static let defaultCapacity = 1024
}
