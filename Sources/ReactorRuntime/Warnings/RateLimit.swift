import Dispatch
import Glibc
import ReactorCore

/// Limits how often an event that repeats is reported, and counts the events that it suppresses.
///
/// In an interval, up to a limit of events of one site are admitted. Further ones are counted, and the count is
/// reported when the interval ends, or when the process exits, so no event goes unreported. While more than the limit come in each
/// interval, the following ones report only their counts; after an interval with no more than that, the limit applies anew.
final class RateLimit<Site: Hashable & Sendable>: Sendable {
  /// The current interval of a site. It exists from the first event until the end of an interval in which none was
  /// suppressed, so the memory is bounded by the number of sites at which something goes wrong at present.
  private struct Interval {
    /// How many events are admitted: the limit, or none.
    let allowance: Int
    var events = 0
    /// How many of them are to be reported by their number.
    var suppressed = 0
  }

  private let intervals = SystemMutex<[Site: Interval]>([:])
  private let limit: Int
  private let duration: Duration
  private let after: CallAfter
  private let reportSuppressed: @Sendable (Site, Int) -> Void

  /// - Parameters:
  ///   - limit: The number of events of a site that are admitted in one interval.
  ///   - duration: The length of an interval, which begins with its first event.
  ///   - after: Schedules the end of an interval. Tests replace it.
  ///   - reportSuppressed: Called at the end of an interval in which events were suppressed, with their number, on
  ///     any thread.
  init(
    _ limit: Int, per duration: Duration = .seconds(1), after: @escaping CallAfter = callOnGlobalQueue,
    reportSuppressed: @escaping @Sendable (Site, Int) -> Void
  ) {
    guard limit > 0 else { fatalError("a limit of \(limit) admits nothing") }
    self.limit = limit
    self.duration = duration
    self.after = after
    self.reportSuppressed = reportSuppressed
  }

  /// Counts an event of a site. Returns whether the event is to be reported; otherwise its interval will report
  /// it in its count. Any thread.
  func admit(_ site: Site) -> Bool {
    let (isAdmitted, isFirst) = intervals.withLock { intervals in
      let isFirst = intervals[site] == nil
      var interval = intervals[site] ?? Interval(allowance: limit)
      let isAdmitted = interval.events < interval.allowance
      interval.events += 1
      if !isAdmitted { interval.suppressed += 1 }
      intervals[site] = interval
      if isFirst, intervals.count == 1 { Unreported.add(self) { self.flush() } }
      return (isAdmitted, isFirst)
    }
    if isFirst { scheduleEnd(of: site) }
    return isAdmitted
  }

  private func scheduleEnd(of site: Site) { after(duration) { [weak self] in self?.end(site) } }

  private func end(_ site: Site) {
    let suppressed = intervals.withLock { intervals in
      guard let ended = intervals[site] else { return 0 }
      intervals[site] = ended.suppressed > 0 ? Interval(allowance: ended.events > limit ? 0 : limit) : nil
      if intervals.isEmpty { Unreported.remove(self) }
      return ended.suppressed
    }
    guard suppressed > 0 else { return }
    scheduleEnd(of: site)
    reportSuppressed(site, suppressed)
  }

  /// Reports the counts of all sites now. Any thread.
  func flush() {
    let suppressed = intervals.withLock { intervals in
      defer { for site in intervals.keys { intervals[site]?.suppressed = 0 } }
      return intervals.mapValues(\.suppressed).filter { $0.value > 0 }
    }
    for (site, count) in suppressed { reportSuppressed(site, count) }
  }
}

/// The limits that have an interval. They are kept until it ends, also if what they limit is gone; and when the process exits they report
/// their counts, since the ends of the intervals would come too late.
private enum Unreported {
  private static let flushes: SystemMutex<[ObjectIdentifier: @Sendable () -> Void]> = {
    atexit { for flush in Unreported.flushes.withLock({ Array($0.values) }) { flush() } }
    return SystemMutex([:])
  }()

  static func add(_ limit: AnyObject, _ flush: @escaping @Sendable () -> Void) {
    flushes.withLock { $0[ObjectIdentifier(limit)] = flush }
  }

  static func remove(_ limit: AnyObject) {
    // Destroyed after the lock is given up: it may have the last reference to the limit.
    _ = flushes.withLock { $0.removeValue(forKey: ObjectIdentifier(limit)) }
  }
}

/// Calls a closure after a duration, on any thread.
typealias CallAfter = @Sendable (Duration, @escaping @Sendable () -> Void) -> Void

/// The default timer of a ``RateLimit``, and of a check of a queue.
let callOnGlobalQueue: CallAfter = {
  DispatchQueue.global(qos: .utility).asyncAfter(
    deadline: .now() + .nanoseconds(Int($0.nanoseconds)), execute: $1)
}
