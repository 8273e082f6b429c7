/// Elements that wait until an operator can use them, oldest first, up to ``limit``.
struct WaitingElements<Element: Sendable>: Sendable {
  /// How many may wait. RxSwift's operators let any number wait.
  static var limit: Int { 65_536 }

  // The entries before index `first` have been taken.
  private var entries: [Element?] = []
  private var first = 0

  var isEmpty: Bool { first == entries.count }

  /// Adds an element. Amortised O(1).
  ///
  /// - Throws: ``RxError/overflow`` if as many wait as may.
  mutating func append(_ element: Element) throws {
    if entries.count - first >= Self.limit { throw RxError.overflow }
    entries.append(element)
  }

  /// Takes the oldest element out; nil if there is none. Amortised O(1).
  mutating func takeFirst() -> Element? {
    if isEmpty { return nil }
    defer {
      entries[first] = nil
      first += 1
      if first * 2 >= entries.count {
        entries.removeFirst(first)
        first = 0
      }
    }
    return entries[first]
  }
}
