import Dispatch
import ReactorCore

/// Lets only so much of what happens again and again be reported, and counts the rest.
///
/// What happens at one site is admitted up to a limit in each interval. What is left out is counted, and the
/// count is told when the interval ends: so nothing is left out without a trace. As long as it goes on, each
/// further interval tells only its count.
final class RateLimit<Site: Hashable & Sendable>: Sendable {
  /// Calls something later, on any thread.
  typealias After = @Sendable (Duration, @escaping @Sendable () -> Void) -> Void

  /// A site is there from the first thing that happens until an interval in which nothing did. So there are
  /// never more than sites at which something goes wrong.
  private struct Interval {
    var admitted: Int
    var leftOut = 0
  }

  private let intervals = SystemMutex<[Site: Interval]>([:])
  private let limit: Int
  private let duration: Duration
  private let after: After
  private let tell: @Sendable (Site, Int) -> Void

  /// - Parameters:
  ///   - limit: How much of a site is admitted in one interval.
  ///   - duration: How long an interval is; it begins with what happens first.
  ///   - tell: Called at the end of an interval in which something was left out, with how much that was, on any
  ///     thread.
  init(
    _ limit: Int, per duration: Duration = .seconds(1), after: @escaping After = laterOnAnyThread,
    tellingLeftOut tell: @escaping @Sendable (Site, Int) -> Void
  ) {
    precondition(limit > 0, "a limit of \(limit) admits nothing")
    self.limit = limit
    self.duration = duration
    self.after = after
    self.tell = tell
  }

  /// Whether what just happened at a site is to be reported; otherwise it has been counted. Any thread.
  func admits(_ site: Site) -> Bool {
    let (isAdmitted, isFirst) = intervals.withLock { intervals in
      guard var interval = intervals[site] else {
        intervals[site] = Interval(admitted: 1)
        return (true, true)
      }
      let isAdmitted = interval.admitted < limit
      if isAdmitted { interval.admitted += 1 } else { interval.leftOut += 1 }
      intervals[site] = interval
      return (isAdmitted, false)
    }
    if isFirst { endLater(site) }
    return isAdmitted
  }

  private func endLater(_ site: Site) { after(duration) { [weak self] in self?.end(site) } }

  private func end(_ site: Site) {
    let leftOut = intervals.withLock { intervals in
      let leftOut = intervals[site]?.leftOut ?? 0
      intervals[site] = leftOut > 0 ? Interval(admitted: limit) : nil
      return leftOut
    }
    guard leftOut > 0 else { return }
    endLater(site)
    tell(site, leftOut)
  }

  /// Tells what was left out up to now: the process is about to end. Any thread.
  func tellAll() {
    let leftOut = intervals.withLock { intervals in
      defer { for site in intervals.keys { intervals[site]?.leftOut = 0 } }
      return intervals.mapValues(\.leftOut).filter { $0.value > 0 }
    }
    for (site, count) in leftOut { tell(site, count) }
  }
}

/// What a ``RateLimit`` uses, unless it is a test's.
private let laterOnAnyThread: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void = {
  _ = DispatchTimer(on: .global(qos: .utility), after: $0, every: nil, $1)
}
