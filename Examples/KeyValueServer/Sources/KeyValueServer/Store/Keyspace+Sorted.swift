/// Sorted sets.
extension Keyspace {
  mutating func executeSorted(_ call: Invocation, _ key: Key, _ out: inout [UInt8]) {
    switch call.code {
    case .zadd: addScores(call, key, &out)
    case .zincrby:
      guard let amount = call.double(2) else { return out.appendError(Refusal.notAFloat) }
      addToScore(amount, of: call.key(3), ScoreOptions(), call, key, &out)
    case .zrem:
      let removed = update(key, as: SortedSet.self, createsKey: false) { set in
        var changes = set.changes(call.count)
        let removed = (2..<call.count).count { set.remove(call.key($0), in: &changes) }
        set.apply(changes)
        return removed
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

  /// The options of ZADD.
  private struct ScoreOptions {
    var (mustBeNew, mustExist, mustBeGreater, mustBeLess) = (false, false, false, false)
    var (countsChanged, increments) = (false, false)

    /// Notes an option; returns false if there is none of that name.
    mutating func add(_ word: String) -> Bool {
      switch word {
      case "NX": mustBeNew = true
      case "XX": mustExist = true
      case "GT": mustBeGreater = true
      case "LT": mustBeLess = true
      case "CH": countsChanged = true
      case "INCR": increments = true
      default: return false
      }
      return true
    }

    /// Why they cannot be used together; nil if they can.
    var refusal: String? {
      if mustBeNew, mustExist { return "ERR XX and NX options at the same time are not compatible" }
      if mustBeNew ? mustBeGreater || mustBeLess : mustBeGreater && mustBeLess {
        return "ERR GT, LT, and/or NX options at the same time are not compatible"
      }
      return nil
    }

    /// Whether a member that had this score, or was none, may get another one.
    func allows(_ score: Double, after before: Double?) -> Bool {
      guard let before else { return !mustExist }
      return !mustBeNew && !(mustBeGreater && score <= before) && !(mustBeLess && score >= before)
    }
  }

  private mutating func addScores(_ call: Invocation, _ key: Key, _ out: inout [UInt8]) {
    var options = ScoreOptions()
    var first = 2
    while first < call.count, options.add(call.word(first)) { first += 1 }
    if first == call.count || (call.count - first) % 2 != 0 { return out.appendError(Refusal.syntax) }
    if let refusal = options.refusal { return out.appendError(refusal) }
    if options.increments, call.count - first > 2 {
      return out.appendError("ERR INCR option supports a single increment-element pair")
    }
    var scores: [Double] = []
    for index in stride(from: first, to: call.count, by: 2) {
      guard let score = call.double(index) else { return out.appendError(Refusal.notAFloat) }
      scores.append(score)
    }
    if options.increments {
      return addToScore(scores[0], of: call.key(first + 1), options, call, key, &out)
    }
    let changed = update(key, as: SortedSet.self) { set in
      var (changed, changes) = (0, set.changes(scores.count))
      for (index, score) in scores.enumerated() {
        let member = call.key(first + 2 * index + 1)
        let before = set.scores[member]
        if !options.allows(score, after: before) { continue }
        let isNew = set.update(member, to: score, in: &changes)
        if isNew || (options.countsChanged && before != score) { changed += 1 }
      }
      set.apply(changes)
      return changed
    }
    out.appendInteger(orWrongType: changed)
  }

  /// Adds to the score of one member, and replies with the new one, or with nothing if the options do not allow it.
  private mutating func addToScore(
    _ amount: Double, of member: Key, _ options: ScoreOptions, _ call: Invocation, _ key: Key,
    _ out: inout [UInt8]
  ) {
    let isSorted: Void? = update(key, as: SortedSet.self) { set in
      let before = set.scores[member]
      if options.mustBeNew, before != nil { return out.appendNull(call.version) }
      // A new member has the amount itself: the reply to an amount of -0 is -0.
      let score = before.map { $0 + amount } ?? amount
      if score.isNaN { return out.appendError("ERR resulting score is not a number (NaN)") }
      if !options.allows(score, after: before) { return out.appendNull(call.version) }
      _ = set.update(member, to: score)
      out.appendScore(score, call.version)
    }
    if isSorted == nil { out.appendError(Refusal.wrongType) }
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
    var (hasScores, isReversed) = (false, false)
    for index in 4..<max(4, call.count) {
      switch call.word(index) {
      case "WITHSCORES": hasScores = true
      case "REV" where !isReversed: isReversed = true
      default: return out.appendError(Refusal.syntax)
      }
    }
    guard let first = call.integer(2), let last = call.integer(3) else {
      return out.appendError(Refusal.notAnInteger)
    }
    let isSorted: Void? = read(key, as: SortedSet.self) { set in
      let count = set.elements.count
      let range = Self.range(first, last, of: count)
      let isNested = hasScores && call.version >= 3
      out.appendArray(hasScores && !isNested ? range.count * 2 : range.count)
      let ranks = isReversed ? (count - range.upperBound)..<(count - range.lowerBound) : range
      set.elements.forEach(in: ranks, isReversed: isReversed) { element in
        if isNested { out.appendArray(2) }
        out.appendBulk(element.member.bytes)
        if hasScores { out.appendScore(element.score, call.version) }
      }
    }
    if isSorted == nil { out.appendError(Refusal.wrongType) }
  }
}
