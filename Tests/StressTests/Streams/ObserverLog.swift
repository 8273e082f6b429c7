import ReactorRuntime
import Synchronization

/// What one observer was told, written down without a lock: if two deliveries overlapped, or one were not
/// ordered after the other, ThreadSanitizer would see it here, and numbers would be missing.
final class ObserverLog: @unchecked Sendable {
  // Unchecked: written by one delivery at a time, each after the one before; read when no more can come.
  private(set) var elements: [Int] = []
  private(set) var ends = 0
  private(set) var elementsAfterTheEnd = 0
  private let isBusy = Atomic(false)
  private let overlaps = Atomic(0)
  private let count = Atomic(0)

  func next(_ element: Int) {
    enter()
    if ends > 0 { elementsAfterTheEnd += 1 }
    elements.append(element)
    leave()
  }

  func end() {
    enter()
    ends += 1
    leave()
  }

  /// Whether it was told anything yet. Any thread.
  var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

  /// How often it was told something while it was being told something else.
  var overlapCount: Int { overlaps.load(ordering: .relaxed) }

  // Relaxed: these must not order the deliveries, for that is what is tested.
  private func enter() {
    if isBusy.exchange(true, ordering: .relaxed) { overlaps.wrappingAdd(1, ordering: .relaxed) }
    count.wrappingAdd(1, ordering: .relaxed)
  }

  private func leave() { isBusy.store(false, ordering: .relaxed) }
}

extension ObserverLog {
  /// What is wrong with the elements if they should be a part of `order` without gaps, from its position
  /// `from` or a later one, and to its end if `toTheEnd`; nil if nothing is.
  func complaint(against order: [Int], positions: [Int: Int], from: Int, toTheEnd: Bool) -> String? {
    if overlapCount > 0 { return "\(overlapCount) deliveries overlapped" }
    guard let first = elements.first else { return "nothing was replayed" }
    guard let start = positions[first] else { return "\(first) was never sent" }
    if start < from { return "the first element is number \(start), older than \(from), the last before" }
    let expected = order[start...]
    if toTheEnd ? !elements.elementsEqual(expected) : !expected.starts(with: elements) {
      return "\(elements.count) elements from number \(start) on are not those that all were told"
    }
    return nil
  }
}
