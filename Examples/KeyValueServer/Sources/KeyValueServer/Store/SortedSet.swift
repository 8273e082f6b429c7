/// Members with scores, in the order of the scores, then of the bytes. An insertion moves what follows, so this is for sets of
/// some thousand members.
struct SortedSet: Sendable {
  struct Element: Sendable {
    let member: Key
    let score: Double

    static func < (one: Element, other: Element) -> Bool {
      if one.score != other.score { return one.score < other.score }
      return one.member < other.member
    }
  }

  private(set) var scores: [Key: Double] = [:]
  private(set) var elements: [Element] = []

  var isEmpty: Bool { elements.isEmpty }

  /// Adds a member, or moves it; returns whether it is new.
  mutating func update(_ member: Key, to score: Double) -> Bool {
    let before = scores.updateValue(score, forKey: member)
    if let before {
      if before == score { return false }
      elements.remove(at: index(of: Element(member: member, score: before)))
    }
    let element = Element(member: member, score: score)
    elements.insert(element, at: index(of: element))
    return before == nil
  }

  /// Removes a member, and returns whether it was there.
  mutating func remove(_ member: Key) -> Bool {
    guard let score = scores.removeValue(forKey: member) else { return false }
    elements.remove(at: index(of: Element(member: member, score: score)))
    return true
  }

  /// Removes the first members, and returns them. The others move once.
  mutating func removeFirst(upTo most: Int) -> [Element] {
    let removed = Array(elements.prefix(most))
    elements.removeFirst(removed.count)
    for element in removed { scores[element.member] = nil }
    return removed
  }

  func rank(of member: Key) -> Int? {
    scores[member].map { index(of: Element(member: member, score: $0)) }
  }

  /// The place of an element, or where it belongs.
  private func index(of element: Element) -> Int {
    var (low, high) = (0, elements.count)
    while low < high {
      let middle = (low + high) / 2
      if elements[middle] < element { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
