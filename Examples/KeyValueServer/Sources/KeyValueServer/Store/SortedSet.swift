/// Members with scores, in the order of the scores, then of the bytes. An insertion moves what follows, so this is for sets of
/// some thousand members. Many changes at once are sorted in together, see ``Changes``.
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
    let score = Self.stored(score)
    let before = scores.updateValue(score, forKey: member)
    if let before {
      if before == score { return false }
      elements.remove(at: index(of: Element(member: member, score: before)))
    }
    let element = Element(member: member, score: score)
    elements.insert(element, at: index(of: element))
    return before == nil
  }

  /// Changes whose places in the order are found at the end, all at once: so a command with very many members takes no time in
  /// proportion to their square. Few changes are made one by one, since these need not look at all members.
  struct Changes {
    fileprivate let sortsOnce: Bool
    /// The members that are new, or have another score, or had one meanwhile.
    fileprivate var changed: Set<Key> = []
    fileprivate var hasOld = false
  }

  func changes(_ count: Int) -> Changes { Changes(sortsOnce: count > 64) }

  /// Adds a member, or moves it; returns whether it is new. ``apply(_:)`` must follow.
  mutating func update(_ member: Key, to score: Double, in changes: inout Changes) -> Bool {
    if !changes.sortsOnce { return update(member, to: score) }
    let score = Self.stored(score)
    let before = scores[member]
    if before == score { return false }
    scores[member] = score
    if changes.changed.insert(member).inserted, before != nil { changes.hasOld = true }
    return before == nil
  }

  /// Removes a member, and returns whether it was there. ``apply(_:)`` must follow.
  mutating func remove(_ member: Key, in changes: inout Changes) -> Bool {
    if !changes.sortsOnce { return remove(member) }
    guard scores.removeValue(forKey: member) != nil else { return false }
    changes.changed.insert(member)
    changes.hasOld = true
    return true
  }

  /// Puts the changed members where they belong.
  mutating func apply(_ changes: consuming Changes) {
    if changes.changed.isEmpty { return }
    if changes.hasOld { elements.removeAll { changes.changed.contains($0.member) } }
    let count = elements.count
    for member in changes.changed {
      if let score = scores[member] { elements.append(Element(member: member, score: score)) }
    }
    // Two parts, of which the first is in order: the sorting of the library finds that out.
    elements[count...].sort(by: <)
    elements.sort(by: <)
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

  /// There is one zero: -0 is kept as 0, as Redis keeps it in its compact form of small sets.
  private static func stored(_ score: Double) -> Double { score == 0 ? 0 : score }

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
