extension Array {
  /// The order in which the members of a group are measured in a round. Each round begins with another member. In a fixed order, what
  /// a place in the round costs would be in all repetitions of one member, and no interval would contain it.
  package func inOrder(ofRound round: Int) -> [Element] {
    guard !isEmpty else { return [] }
    let start = round % count
    return Array(self[start...] + self[..<start])
  }
}
