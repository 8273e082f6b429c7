import Observation
import Synchronization

/// Counts how often a change of what a closure has read is announced.
final class Tracking: Sendable {
  private let announcements = Atomic(0)

  /// Begins to track what `read` reads.
  init(_ read: () -> Void) {
    withObservationTracking(read) { self.announcements.add(1, ordering: .sequentiallyConsistent) }
  }

  var count: Int { announcements.load(ordering: .sequentiallyConsistent) }

  /// Whether something that was read was announced.
  var isAnnounced: Bool { count > 0 }

  /// Whether `change` is announced to what has done `read`.
  static func announces(_ change: () -> Void, to read: () -> Void) -> Bool {
    let tracking = Tracking(read)
    change()
    return tracking.isAnnounced
  }
}
