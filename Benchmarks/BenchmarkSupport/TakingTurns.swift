extension Array {
  /// The order in which the members of a group are measured in a round. Each round begins with another member. In a fixed order, what
  /// a place in the round costs would be in all repetitions of one member, and no interval would contain it. Every other round goes
  /// backwards, so that what one member leaves behind, such as in caches, is not always for the same other one.
  package func inOrder(ofRound round: Int) -> [Element] {
    indices.map { self[(round % count + (round % 2 == 0 ? $0 : count - $0)) % count] }
  }
}
