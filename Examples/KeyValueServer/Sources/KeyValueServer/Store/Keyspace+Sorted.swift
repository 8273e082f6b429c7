/// Sorted sets.
extension Keyspace {
  mutating func executeSorted(_ call: Invocation, _ key: Key, _ out: inout [UInt8]) {
    switch call.code {
    case .zadd: addScores(call, key, &out)
    case .zincrby:
      guard let amount = call.double(2) else { return out.appendError(Refusal.notAFloat) }
      let isSorted: Void? = update(key, as: SortedSet.self) { set in
        let score = (set.scores[call.key(3)] ?? 0) + amount
        if score.isNaN { return out.appendError("ERR resulting score is not a number (NaN)") }
        _ = set.update(call.key(3), to: score)
        out.appendScore(score, call.version)
      }
      if isSorted == nil { out.appendError(Refusal.wrongType) }
    case .zrem:
      let removed = update(key, as: SortedSet.self, createsKey: false) { set in
        (2..<call.count).count { set.remove(call.key($0)) }
      }
      out.appendInteger(orWrongType: removed)
    case .zpopmin: popSmallest(call, key, &out)
    case .zcard: out.appendInteger(orWrongType: read(key, as: SortedSet.self) { $0.elements.count })
    case .zrange: appendRange(call, key, &out)
    case .zscore:
      let isSorted: Void? = read(key, as: SortedSet.self) { set in
        if let score = set.scores[call.key(2)] {
          out.appendScore(score, call.version)
        } else {
          out.appendNull(call.version)
        }
      }
      if isSorted == nil { out.appendError(Refusal.wrongType) }
    default:
      if call.count > 3 { return out.appendError(Refusal.syntax) }
      let isSorted: Void? = read(key, as: SortedSet.self) { set in
        if let rank = set.rank(of: call.key(2)) {
          out.appendInteger(rank)
        } else {
          out.appendNull(call.version)
        }
      }
      if isSorted == nil { out.appendError(Refusal.wrongType) }
    }
  }

  private mutating func addScores(_ call: Invocation, _ key: Key, _ out: inout [UInt8]) {
    var (mustBeNew, mustExist, countsChanged) = (false, false, false)
    var first = 2
    options: while first < call.count {
      switch call.word(first) {
      case "NX": mustBeNew = true
      case "XX": mustExist = true
      case "CH": countsChanged = true
      default: break options
      }
      first += 1
    }
    if first == call.count || (call.count - first) % 2 != 0 { return out.appendError(Refusal.syntax) }
    if mustBeNew, mustExist {
      return out.appendError("ERR XX and NX options at the same time are not compatible")
    }
    var scores: [Double] = []
    for index in stride(from: first, to: call.count, by: 2) {
      guard let score = call.double(index) else { return out.appendError(Refusal.notAFloat) }
      scores.append(score)
    }
    let changed = update(key, as: SortedSet.self) { set in
      var changed = 0
      for (index, score) in scores.enumerated() {
        let member = call.key(first + 2 * index + 1)
        let before = set.scores[member]
        if mustBeNew ? before != nil : mustExist && before == nil { continue }
        let isNew = set.update(member, to: score)
        if isNew || (countsChanged && before != score) { changed += 1 }
      }
      return changed
    }
    out.appendInteger(orWrongType: changed)
  }

  private mutating func popSmallest(_ call: Invocation, _ key: Key, _ out: inout [UInt8]) {
    if call.count > 3 { return out.appendError(Refusal.syntax) }
    let most = call.count == 3 ? call.integer(2) : 1
    guard let most, most >= 0 else { return out.appendError("ERR value is out of range, must be positive") }
    let isSorted: Void? = update(key, as: SortedSet.self, createsKey: false) { set in
      let popped = set.removeFirst(upTo: most)
      let isNested = call.version >= 3 && call.count == 3
      out.appendArray(isNested ? popped.count : popped.count * 2)
      for element in popped {
        if isNested { out.appendArray(2) }
        out.appendBulk(element.member.bytes)
        out.appendScore(element.score, call.version)
      }
    }
    if isSorted == nil { out.appendError(Refusal.wrongType) }
  }

  private func appendRange(_ call: Invocation, _ key: Key, _ out: inout [UInt8]) {
    guard call.count <= 5, call.count == 4 || call.word(4) == "WITHSCORES" else {
      return out.appendError(Refusal.syntax)
    }
    guard let first = call.integer(2), let last = call.integer(3) else {
      return out.appendError(Refusal.notAnInteger)
    }
    let isSorted: Void? = read(key, as: SortedSet.self) { set in
      let range = Self.range(first, last, of: set.elements.count)
      let hasScores = call.count == 5
      let isNested = hasScores && call.version >= 3
      out.appendArray(hasScores && !isNested ? range.count * 2 : range.count)
      for element in set.elements[range] {
        if isNested { out.appendArray(2) }
        out.appendBulk(element.member.bytes)
        if hasScores { out.appendScore(element.score, call.version) }
      }
    }
    if isSorted == nil { out.appendError(Refusal.wrongType) }
  }
}
