/// Elements that wait until an operator can use them, oldest first.
struct WaitingElements<Element: Sendable>: Sendable {
  /// How many may wait for another stream. RxSwift's operators let any number wait.
  static var limit: Int { 65_536 }

  // The entries before index `first` have been taken.
  private var entries: [Element?] = []
  private var first = 0

  var isEmpty: Bool { first == entries.count }
  var count: Int { entries.count - first }

  /// The oldest element; nil if there is none.
  var oldest: Element? { isEmpty ? nil : entries[first] }

  /// Adds an element, however many wait. Amortised O(1).
  mutating func append(_ element: Element) { entries.append(element) }

  /// Adds an element. Amortised O(1).
  ///
  /// - Throws: ``RxError/overflow`` if ``limit`` wait.
  mutating func appendUpToLimit(_ element: Element) throws {
    if count >= Self.limit { throw RxError.overflow }
    append(element)
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
