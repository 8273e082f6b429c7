/// The last elements of a stream, up to a limit.
struct RecentElements<Element: Sendable>: Sendable {
  let limit: Int
  // Once it is full, `oldest` goes round in it.
  private var kept: [Element]
  private var oldest = 0

  init(limit: Int, _ first: [Element] = []) {
    precondition(limit >= 0 && first.count <= limit)
    self.limit = limit
    kept = first
  }

  var isEmpty: Bool { kept.isEmpty }

  var last: Element? {
    if kept.isEmpty { return nil }
    return kept[oldest == 0 ? kept.count - 1 : oldest - 1]
  }

  /// From the oldest to the newest.
  var all: [Element] { Array(kept[oldest...] + kept[..<oldest]) }

  /// Adds an element.
  ///
  /// - Returns: The one that had to go, so that it is destroyed where the caller wants.
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
