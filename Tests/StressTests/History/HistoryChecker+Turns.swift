/// One owner at a time.
extension HistoryChecker {
  /// No two turns overlap, each reception is inside of a turn of its own thread, and, where that is promised,
  /// all turns are on one thread.
  func wrongTurns(_ turns: [History.Turn], _ receptions: [History.Reception]) -> [Violation] {
    let turns = turns.sorted { $0.begin < $1.begin }
    var found: [Violation] = []
    // With the one that ends last, which is not always the one before.
    var longest: History.Turn?
    for turn in turns {
      if let longest, turn.begin <= longest.end { found.append(.overlap(longest, turn)) }
      if turn.end > longest?.end ?? 0 { longest = turn }
    }
    for reception in receptions where !turns.hasOne(around: reception) {
      found.append(.outsideOfTurns(reception.element))
    }
    if hasOneThread, let first = turns.first {
      found += turns.filter { $0.thread != first.thread }.map { .onAnotherThread($0) }
    }
    return found
  }
}

extension [History.Turn] {
  /// Whether one of them, which are in the order of their beginnings and do not overlap, holds the reception.
  fileprivate func hasOne(around reception: History.Reception) -> Bool {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle].begin > reception.time { high = middle } else { low = middle + 1 }
    }
    guard low > 0 else { return false }
    let turn = self[low - 1]
    return reception.time <= turn.end && reception.thread == turn.thread
  }
}
