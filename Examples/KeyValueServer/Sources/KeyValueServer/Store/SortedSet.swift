/// Members with scores, in the order of the scores, then of the bytes. Many changes at once are sorted in together, see ``Changes``.
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
  private(set) var elements = SortedElements()

  var isEmpty: Bool { elements.isEmpty }

  /// Adds a member, or moves it; returns whether it is new.
  mutating func update(_ member: Key, to score: Double) -> Bool {
    let score = Self.stored(score)
    let before = scores.updateValue(score, forKey: member)
    if let before {
      if before == score { return false }
      elements.remove(Element(member: member, score: before))
    }
    elements.insert(Element(member: member, score: score))
    return before == nil
  }

  /// Changes whose places in the order are found at the end, all at once: that takes less time for each of them, but some for each
  /// member of the set. So if they are few, or few beside the members, they are made one by one.
  struct Changes {
    fileprivate let sortsOnce: Bool
    /// The members that are new, or have another score, or had one meanwhile.
    fileprivate var changed: Set<Key> = []
    fileprivate var hasOld = false
  }

  func changes(_ count: Int) -> Changes { Changes(sortsOnce: count > max(64, elements.count / 32)) }

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
    var elements = self.elements.all(addingUpTo: changes.changed.count)
    // So that the memory of the chunks is free before there are new ones.
    self.elements = SortedElements()
    if changes.hasOld { elements.removeAll { changes.changed.contains($0.member) } }
    let count = elements.count
    for member in changes.changed {
      if let score = scores[member] { elements.append(Element(member: member, score: score)) }
    }
    // Two parts, of which the first is in order: the sorting of the library finds that out.
    elements[count...].sort(by: <)
    elements.sort(by: <)
    self.elements = SortedElements(sorted: elements)
  }

  /// Removes a member, and returns whether it was there.
  mutating func remove(_ member: Key) -> Bool {
    guard let score = scores.removeValue(forKey: member) else { return false }
    elements.remove(Element(member: member, score: score))
    return true
  }

  /// Removes the first members, and returns them.
  mutating func removeFirst(upTo most: Int) -> [Element] {
    let removed = elements.removeFirst(upTo: most)
    for element in removed { scores[element.member] = nil }
    return removed
  }

  func rank(of member: Key) -> Int? {
    scores[member].map { elements.rank(of: Element(member: member, score: $0)) }
  }

  /// There is one zero: -0 is kept as 0, as Redis keeps it in its compact form of small sets.
  private static func stored(_ score: Double) -> Double { score == 0 ? 0 : score }
}
