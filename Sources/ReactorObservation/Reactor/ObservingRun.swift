import Observation
import ReactorCore

/// One run of the code of a ``ReactorObserving``, and the changes that were shown in the middle of it.
///
/// Observation only notes what the code reads, and begins to observe it when the code has returned. What is announced in between
/// does not reach the run. So each ``ObservedReactor`` that the code reads keeps a reference to the run, and hands it what it
/// announces; and at the end of the run, when everything is observed, that is announced once more. Other readers may then be told
/// of a change a second time.
final class ObservingRun: Sendable {
  typealias Call = @Sendable () -> Void

  /// More announcements are not kept: they would keep a state each.
  private static let limit = 16

  private struct Changes: Sendable {
    /// What an observed reactor does when the run has ended.
    var onEnd: [Call] = []
    var announcements: [Call] = []
    var isIncomplete = false
  }

  private let changes = SystemMutex(Changes())

  /// The runs that the calling thread is in the middle of. What the innermost one reads is observed by the others, too.
  static var current: [ObservingRun] { ThreadScope.objects(ObservingRun.self) }

  /// Runs `body` as this run: what it reads is observed until `onChange` is called. The loop.
  func observe(_ body: () -> Void, onChange: @escaping Call) {
    ThreadScope.enter(self) { withObservationTracking(body, onChange: onChange) }
    // After the reads are observed. So what is announced from here on reaches `onChange`, and needs no second time.
    let changes = changes.withLock { changes in
      defer { changes = Changes() }
      return changes
    }
    for end in changes.onEnd { end() }
    for announce in changes.announcements { announce() }
    if changes.isIncomplete { onChange() }
  }

  /// Registers what must be done when the run has ended. The thread that runs.
  func whenEnded(_ end: @escaping Call) { changes.withLock { $0.onEnd.append(end) } }

  /// Keeps an announcement that may come too early for this run. Any thread, before it makes the announcement.
  func keep(_ announcement: @escaping Call) {
    changes.withLock { changes in
      if changes.announcements.count < Self.limit {
        changes.announcements.append(announcement)
      } else {
        changes.isIncomplete = true
      }
    }
  }
}
