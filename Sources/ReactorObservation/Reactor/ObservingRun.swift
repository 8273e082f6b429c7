import Observation
import ReactorCore

/// One run of the code of a ``ReactorObserving``, and the states that it has read.
///
/// Observation only notes what the code reads, and begins to observe it when the code has returned. What is announced in between
/// does not reach the run. So each ``ObservedReactor`` that the code reads tells the run which states these were; and at the end of
/// the run, when everything is observed, it announces what differs between each of them and the newest one. Other readers may then
/// be told of a change a second time.
final class ObservingRun: Sendable {
  typealias Call = @Sendable () -> Void
  typealias Announce = @Sendable (ObservingRun) -> Void

  /// More states of one reader are not kept.
  private static let limit = 64

  /// A state that the run has read.
  private struct Read: Sendable {
    let number: UInt64
    /// Announces what differs between it and the newest one, and retains the reader.
    let announceChanges: Announce
  }

  private struct Reads: Sendable {
    /// By what has shown the states. It has no limit: there are no more readers than the code has read.
    var all: [ObjectIdentifier: [Read]] = [:]
    var isIncomplete = false
    /// The run that this one is inside of.
    var outer: ObservingRun?
  }

  private struct State: Sendable {
    var isOver = false
    /// The ends that the code has read: those of the scopes that have run inside of this run.
    var inner: [ObservingEnd] = []
  }

  /// Only the thread that is inside of the run uses it.
  private let reads = OwnerIsolated(Reads())
  private let state = SystemMutex(State())
  private let onChange: Call
  /// Locked until all that was read is registered. What Observation forgets while it still registers would stay registered, so
  /// a change that comes then waits: for nothing that the code of the run does, since its reads are registered after it.
  private let registration = SystemMutex(())

  /// - Parameter onChange: Called once, when something that the run has read changes; perhaps before the change.
  init(onChange: @escaping Call) { self.onChange = onChange }

  /// The innermost run that the calling thread is in the middle of. What it reads is observed by the others, too.
  static var current: ObservingRun? { ThreadScope.innermost(ObservingRun.self) }

  /// Whether a change of what the run has read was announced, so that it is no longer observed. Any thread.
  var isOver: Bool { state.withLock { $0.isOver } }

  /// Runs `body` as this run: what it reads is observed until something of it changes, or until `end`. The loop.
  func observe(until end: ObservingEnd, _ body: () -> Void) {
    let outer = ThreadScope.objects(ObservingRun.self)
    reads.value.outer = outer.first
    end.runBegins(inside: outer)
    for run in outer { run.state.withLock { $0.inner.append(end) } }
    registration.withLock { _ in
      ThreadScope.enter(self) {
        withObservationTracking {
          end.read()
          body()
        } onChange: {
          self.change()
        }
      }
    }
    let reads = reads.value
    self.reads.value = Reads()
    // After the reads are observed. So what is announced from here on reaches `onChange`, and needs no second time.
    if end.runHasEnded() { return }
    for ofReader in reads.all.values {
      for read in ofReader { read.announceChanges(self) }
    }
    if reads.isIncomplete {
      change()
      end.announce()
    }
  }

  /// Notes that the run, and those that it is inside of, have read a state. The thread that runs.
  ///
  /// - Parameters:
  ///   - number: How many states the reader has shown before.
  ///   - reader: What has shown it.
  ///   - announceChanges: Announces what differs between it and the newest state, unless the run is over.
  func note(_ number: UInt64, of reader: AnyObject, announceChanges: () -> Announce) {
    reads.value.outer?.note(number, of: reader, announceChanges: announceChanges)
    let key = ObjectIdentifier(reader)
    let known = reads.value.all[key]
    // Mostly the latest one.
    if let known, known.last?.number == number || known.contains(where: { $0.number == number }) { return }
    if known?.count == Self.limit {
      reads.value.isIncomplete = true
    } else {
      reads.value.all[key, default: []].append(Read(number: number, announceChanges: announceChanges()))
    }
  }

  /// Called by Observation when something that was read changes, before it forgets the rest. Any thread. It does nothing from the
  /// second time on.
  private func change() {
    registration.withLock { _ in }
    let inner = state.withLock { state -> [ObservingEnd]? in
      if state.isOver { return nil }
      state.isOver = true
      defer { state.inner = [] }
      return state.inner
    }
    guard let inner else { return }
    onChange()
    for end in inner { end.outerRunIsOver() }
  }
}
