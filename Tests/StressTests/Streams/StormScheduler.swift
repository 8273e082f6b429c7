import ReactorRuntime
import TestSupport

/// A scheduler that keeps its times and nothing else: what is due is run in random order, by whichever
/// threads come to ``runOne(_:)``.
final class StormScheduler: SchedulerType {
  private struct Entry: Sendable {
    let number: Int
    var due: Duration
    let period: Duration?
    let action: @Sendable () -> Void
  }

  private struct Entries: Sendable {
    var waiting: [Entry] = []
    /// Periodic ones that run at the moment and are to go on.
    var running: Set<Int> = []
    var told = 0
  }

  private let entries = Guarded(Entries())
  private let begin = ContinuousClock.now

  var now: Duration { begin.duration(to: .now) }

  func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable { add(.zero, nil, action) }

  func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable {
    add(delay, nil, action)
  }

  func schedulePeriodic(
    after delay: Duration, every period: Duration, _ action: @escaping @Sendable () -> Void
  ) -> any Disposable { add(delay, period, action) }

  private func add(
    _ delay: Duration, _ period: Duration?, _ action: @escaping @Sendable () -> Void
  ) -> any Disposable {
    let due = now + delay
    let number = entries.with { entries in
      entries.told += 1
      entries.waiting.append(Entry(number: entries.told, due: due, period: period, action: action))
      return entries.told
    }
    return Disposables.create { [weak self] in self?.remove(number) }
  }

  private func remove(_ number: Int) {
    // Destroyed outside of the lock.
    _ = entries.with { entries in
      entries.running.remove(number)
      return entries.waiting.firstIndex { $0.number == number }.map { entries.waiting.remove(at: $0) }
    }
  }

  /// Runs something that is due; false if nothing is. Any thread.
  func runOne(_ disturbance: inout Disturbance) -> Bool {
    let now = now
    let choice = disturbance.below(1 << 16)
    let entry: Entry? = entries.with { entries in
      let due = entries.waiting.indices.filter { entries.waiting[$0].due <= now }
      if due.isEmpty { return nil }
      let entry = entries.waiting.remove(at: due[choice % due.count])
      if entry.period != nil { entries.running.insert(entry.number) }
      return entry
    }
    guard var entry else { return false }
    disturbance.step()
    entry.action()
    if let period = entry.period {
      entry.due += period
      let next = entry
      entries.with { entries in
        if entries.running.remove(next.number) != nil { entries.waiting.append(next) }
      }
    }
    return true
  }

  /// Forgets everything that waits.
  func clear() {
    _ = entries.with { entries in
      defer { entries.waiting = [] }
      return entries.waiting
    }
  }

  var isEmpty: Bool { entries.with { $0.waiting.isEmpty } }
}
