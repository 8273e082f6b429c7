/// A set whose members have an order: the same one in each process that makes the same changes. SPOP depends on it, and the order
/// of a `Set` differs from process to process, so a replay would remove other members.
///
/// All changes are O(1).
struct SetValue: Sendable {
  private(set) var members: [Key] = []
  private var places: [Key: Int] = [:]

  var count: Int { members.count }
  var isEmpty: Bool { members.isEmpty }

  func contains(_ member: Key) -> Bool { places[member] != nil }

  /// Adds a member; returns whether it is new.
  mutating func insert(_ member: Key) -> Bool {
    guard places[member] == nil else { return false }
    places[member] = members.count
    members.append(member)
    return true
  }

  /// Removes a member; returns whether it was there. The last one takes its place.
  mutating func remove(_ member: Key) -> Bool {
    guard let place = places.removeValue(forKey: member) else { return false }
    let last = members.removeLast()
    if place < members.count {
      members[place] = last
      places[last] = place
    }
    return true
  }

  /// Removes any member.
  ///
  /// - Parameter seed: Decides which one: another seed usually gives another member.
  mutating func removeAny(seed: Int64) -> Key? {
    if members.isEmpty { return nil }
    // A multiplication mixes the low bits, in which times differ, into the high ones, which choose the place.
    let mixed = (UInt64(bitPattern: seed) ^ UInt64(members.count)) &* 0x9E37_79B9_7F4A_7C15
    let member = members[Int(mixed.multipliedFullWidth(by: UInt64(members.count)).high)]
    _ = remove(member)
    return member
  }
}
