/// The elements of a sorted set, in their order: an array of chunks, each of which is a sorted array of at most 512 elements.
///
/// ```
///  chunks    [ a c d ] [ f g ] [ k m p q ] …
///  rank        0 1 2     3 4     5 6 7 8
/// ```
///
/// - An insertion or a removal moves elements of one chunk only. A full chunk is split in two before an insertion. After a removal, a
///   chunk is merged with a neighbour if both together have at most 256 elements.
/// - So any two neighbours together have more than 256 elements, and n elements are in at most n / 128 + 1 chunks.
/// - To find an element is a binary search, first over the chunks and then in one of them: O(log n).
/// - To find a rank adds up the counts of the chunks: O(n / 128). The counts are next to each other in memory, so a million elements take
///   some microseconds.
struct SortedElements: Sendable {
  typealias Element = SortedSet.Element

  private struct Chunk {
    var elements: [Element] { didSet { count = elements.count } }
    /// Kept beside the reference, so that the sum of all counts does not read each array.
    private(set) var count: Int

    init(_ elements: [Element]) {
      self.elements = elements
      count = elements.count
    }
  }

  /// Where an element is, or where it belongs.
  private struct Place {
    var chunk: Int
    var offset: Int
  }

  private static let mostInChunk = 512
  private static let mostInMerged = mostInChunk / 2

  /// None of them is empty.
  private var chunks: [Chunk] = []
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  init() {}

  /// - Parameter elements: They must be in order, and each one at most once.
  init(sorted elements: [Element]) {
    count = elements.count
    chunks.reserveCapacity(count / Self.mostInChunk + 1)
    for first in stride(from: 0, to: count, by: Self.mostInChunk) {
      chunks.append(Chunk(Array(elements[first..<min(first + Self.mostInChunk, count)])))
    }
  }

  // MARK: Reading

  /// All of them, with room for some more.
  func all(addingUpTo more: Int) -> [Element] {
    var all: [Element] = []
    all.reserveCapacity(count + more)
    for chunk in chunks { all += chunk.elements }
    return all
  }

  /// How many elements come before this one, which must be there. O(n / 128).
  func rank(of element: Element) -> Int {
    let place = place(of: element)
    var rank = place.offset
    for chunk in 0..<place.chunk { rank += chunks[chunk].count }
    return rank
  }

  /// Calls `body` with the elements that have these ranks, which must exist, in this order or in the reverse one. O(n / 128) for the
  /// first element, O(1) for each.
  func forEach(in ranks: Range<Int>, isReversed: Bool = false, _ body: (Element) -> Void) {
    if ranks.isEmpty { return }
    var place = place(ofRank: isReversed ? ranks.upperBound - 1 : ranks.lowerBound)
    for _ in ranks.dropLast() {
      body(chunks[place.chunk].elements[place.offset])
      if isReversed { stepBack(&place) } else { step(&place) }
    }
    body(chunks[place.chunk].elements[place.offset])
  }

  private func step(_ place: inout Place) {
    place.offset += 1
    if place.offset == chunks[place.chunk].count { place = Place(chunk: place.chunk + 1, offset: 0) }
  }

  private func stepBack(_ place: inout Place) {
    if place.offset == 0 { place = Place(chunk: place.chunk - 1, offset: chunks[place.chunk - 1].count) }
    place.offset -= 1
  }

  private func place(ofRank rank: Int) -> Place {
    var place = Place(chunk: 0, offset: rank)
    while place.offset >= chunks[place.chunk].count {
      place.offset -= chunks[place.chunk].count
      place.chunk += 1
    }
    return place
  }

  /// Where an element is, or where it belongs. There must be a chunk.
  private func place(of element: Element) -> Place {
    // The last chunk that does not begin behind the element; if each one does, the first.
    let begun = Self.firstIndex(below: chunks.count) { element < chunks[$0].elements[0] }
    let chunk = max(begun - 1, 0)
    let elements = chunks[chunk].elements
    return Place(
      chunk: chunk, offset: Self.firstIndex(below: elements.count) { !(elements[$0] < element) })
  }

  /// A binary search: the first index for which a condition holds, if it holds for all that follow; `end` if there is none.
  private static func firstIndex(below end: Int, where condition: (Int) -> Bool) -> Int {
    var (low, high) = (0, end)
    while low < high {
      let middle = (low + high) / 2
      if condition(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  // MARK: Changing

  /// Adds an element that is not there.
  mutating func insert(_ element: Element) {
    count += 1
    if chunks.isEmpty { return chunks.append(Chunk([element])) }
    var place = place(of: element)
    if chunks[place.chunk].count == Self.mostInChunk {
      // Elements that come in their order fill each chunk: no half of it remains empty.
      if place.chunk == chunks.count - 1, place.offset == Self.mostInChunk {
        return chunks.append(Chunk([element]))
      }
      split(place.chunk)
      let half = chunks[place.chunk].count
      if place.offset > half { place = Place(chunk: place.chunk + 1, offset: place.offset - half) }
    }
    chunks[place.chunk].elements.insert(element, at: place.offset)
  }

  /// Removes an element that is there.
  mutating func remove(_ element: Element) {
    count -= 1
    let place = place(of: element)
    chunks[place.chunk].elements.remove(at: place.offset)
    mergeIfSmall(place.chunk)
  }

  /// Removes the first elements, and returns them.
  mutating func removeFirst(upTo most: Int) -> [Element] {
    var removed: [Element] = []
    removed.reserveCapacity(min(most, count))
    // Whole chunks, and then a part of the next one.
    var whole = 0
    while whole < chunks.count, chunks[whole].count <= most - removed.count {
      removed += chunks[whole].elements
      whole += 1
    }
    chunks.removeFirst(whole)
    let rest = most - removed.count
    if rest > 0, !chunks.isEmpty {
      removed += chunks[0].elements[..<rest]
      chunks[0].elements.removeFirst(rest)
      mergeIfSmall(0)
    }
    count -= removed.count
    return removed
  }

  private mutating func split(_ chunk: Int) {
    let half = chunks[chunk].count / 2
    chunks.insert(Chunk(Array(chunks[chunk].elements[half...])), at: chunk + 1)
    chunks[chunk].elements.removeSubrange(half...)
  }

  /// Removes a chunk that is empty, or merges it with one or both of its neighbours.
  private mutating func mergeIfSmall(_ chunk: Int) {
    if chunks[chunk].count == 0 {
      chunks.remove(at: chunk)
      return
    }
    mergeIfSmall(chunk, chunk + 1)
    mergeIfSmall(chunk - 1, chunk)
  }

  private mutating func mergeIfSmall(_ chunk: Int, _ next: Int) {
    if chunk < 0 || next == chunks.count { return }
    if chunks[chunk].count + chunks[next].count > Self.mostInMerged { return }
    chunks[chunk].elements += chunks[next].elements
    chunks.remove(at: next)
  }
}
