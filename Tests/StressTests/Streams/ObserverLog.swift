import ReactorRuntime
import Synchronization

/// The events of one observer, recorded without a lock. If two deliveries overlapped, or one were not ordered after
/// the other, ThreadSanitizer would report a race here, and numbers would be missing.
final class ObserverLog: @unchecked Sendable {
  // Unchecked: one delivery at a time writes it, each after the previous one. It is read when no more can come.
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

  /// Whether there was an event yet. Any thread.
  var isEmpty: Bool { eventCount == 0 }

  /// How many events there were. Any thread.
  var eventCount: Int { count.load(ordering: .relaxed) }

  /// How many deliveries began while another one was under way.
  var overlapCount: Int { overlaps.load(ordering: .relaxed) }

  // Relaxed: these must not order the deliveries, because their order is what is tested.
  private func enter() {
    if isBusy.exchange(true, ordering: .relaxed) { overlaps.wrappingAdd(1, ordering: .relaxed) }
    count.wrappingAdd(1, ordering: .relaxed)
  }

  private func leave() { isBusy.store(false, ordering: .relaxed) }
}

extension ObserverLog {
  /// Checks that the elements are a part of `order` without gaps that begins at its position `from` or a later one,
  /// and reaches its end if `toTheEnd`. Returns what is wrong, or nil.
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
