/// The last elements of a stream, up to a limit: a ring buffer.
@usableFromInline
struct RecentElements<Element: Sendable>: Sendable {
  @usableFromInline let limit: Int
  // Once this is full, `oldest` goes round in it.
  @usableFromInline var kept: [Element]
  @usableFromInline var oldest = 0

  @inlinable
  init(limit: Int, _ first: [Element] = []) {
    precondition(limit >= 0 && first.count <= limit)
    self.limit = limit
    kept = first
  }

  @inlinable
  var isEmpty: Bool { kept.isEmpty }

  @inlinable
  var last: Element? {
    if kept.isEmpty { return nil }
    return kept[oldest == 0 ? kept.count - 1 : oldest - 1]
  }

  /// From the oldest to the newest.
  @inlinable
  var all: [Element] { Array(kept[oldest...] + kept[..<oldest]) }

  /// Adds an element.
  ///
  /// - Returns: The element that it replaces, so that the caller chooses where that is destroyed.
  @inlinable
  mutating func append(_ element: Element) -> Element? {
    if limit == 0 { return nil }
    if kept.count < limit {
      kept.append(element)
      return nil
    }
    var displaced = element
    swap(&kept[oldest], &displaced)
    oldest = oldest + 1 == limit ? 0 : oldest + 1
    return displaced
  }
}
