/// The members of a subject: adding and removing one does not copy the others.
///
/// A drainer delivers to the array outside of the lock. Meanwhile what comes and goes is noted beside it, in O(log n), and the
/// drainer settles that between two events, each of which is O(n) anyway. Otherwise thousands of observers that end in one
/// event (`take(1)`) would each copy the array.
extension SubjectCore.State {
  @inlinable
  var hasMembers: Bool { members.count + joining.count > removedCount + leaving.count }

  @inlinable
  mutating func add(_ member: SubjectCore.Member) {
    if drain.isActive { joining.append(member) } else { members.append(member) }
  }

  /// Removes a member, unless it is gone.
  ///
  /// - Returns: Its observer, to be destroyed after the lock; nil if the drainer does that.
  @inlinable
  mutating func remove(_ key: UInt64) -> AnyObserver<Element>? {
    let index = Self.index(of: key, in: members)
    if drain.isActive {
      if index != nil { leaving.append(key) }
      // Nobody reads these outside of the lock.
      guard let index = Self.index(of: key, in: joining), let observer = joining[index].observer.take() else {
        return nil
      }
      removedCount += 1
      return observer
    }
    guard let index, let observer = members[index].observer.take() else { return nil }
    removedCount += 1
    if removedCount * 2 > members.count {
      members.removeAll { $0.observer == nil }
      removedCount = 0
    }
    return observer
  }

  /// Adds and removes what has come and gone during a drain. The drainer, between two events.
  ///
  /// - Returns: What was removed, to be destroyed after the lock.
  @inlinable
  mutating func settleMembers() -> [SubjectCore.Member] {
    if joining.isEmpty, leaving.isEmpty { return [] }
    if leaving.isEmpty {
      // Those that have left again would never be found: only a removal looks for them.
      let staying = joining.filter { $0.observer != nil }
      removedCount -= joining.count - staying.count
      members += staying
      joining = []
      return []
    }
    leaving.sort()
    var (kept, removed) = ([SubjectCore.Member](), [SubjectCore.Member]())
    var next = 0
    for list in [members, joining] {
      for member in list {
        while next < leaving.count, leaving[next] < member.key { next += 1 }
        if next < leaving.count, leaving[next] == member.key {
          removed.append(member)
        } else if member.observer != nil {
          kept.append(member)
        }
      }
    }
    (members, joining, leaving, removedCount) = (kept, [], [], 0)
    return removed
  }

  /// Where the member of that key is; nil if it is not there. O(log n).
  @inlinable
  static func index(of key: UInt64, in members: [SubjectCore.Member]) -> Int? {
    var (low, high) = (0, members.count)
    while low < high {
      let middle = (low + high) / 2
      if members[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return low < members.count && members[low].key == key ? low : nil
  }
}
