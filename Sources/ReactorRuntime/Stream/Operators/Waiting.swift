/// Elements that wait until an operator can use them, oldest first.
@usableFromInline
struct WaitingElements<Element: Sendable>: Sendable {
  /// How many may wait for another stream. RxSwift's operators let any number wait.
  @inlinable
  static var limit: Int { 65_536 }

  // The entries before index `first` have been taken.
  @usableFromInline var entries: [Element?] = []
  @usableFromInline var first = 0

  @inlinable
  init() {}

  @inlinable
  var isEmpty: Bool { first == entries.count }

  @inlinable
  var count: Int { entries.count - first }

  /// The oldest element; nil if there is none.
  @inlinable
  var oldest: Element? { isEmpty ? nil : entries[first] }

  /// Adds an element, however many wait. Amortised O(1).
  @inlinable
  mutating func append(_ element: Element) { entries.append(element) }

  /// Adds an element. Amortised O(1).
  ///
  /// - Throws: ``RxError/overflow`` if ``limit`` wait.
  @inlinable
  mutating func appendUpToLimit(_ element: Element) throws {
    if count >= Self.limit { throw RxError.overflow }
    append(element)
  }

  /// Takes the oldest element out; nil if there is none. Amortised O(1).
  @inlinable
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
