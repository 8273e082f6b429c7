extension ContiguousArray {
  /// Empties a slot of a hash table with linear probing, and moves later entries back, so that no search ends too early. The capacity
  /// is a power of two. O(1) on average.
  ///
  /// - Parameter home: Returns where the search for an entry begins; more than its lowest bits do not matter.
  @inlinable
  public mutating func emptyProbed<Entry>(_ slot: Int, home: (Entry) -> Int) where Element == Entry? {
    let mask = count - 1
    var hole = slot
    self[hole] = nil
    var index = (hole + 1) & mask
    while let entry = self[index] {
      // It may move back unless its home lies behind the hole.
      if (index - home(entry)) & mask >= (index - hole) & mask {
        self[hole] = entry
        self[index] = nil
        hole = index
      }
      index = (index + 1) & mask
    }
  }
}
