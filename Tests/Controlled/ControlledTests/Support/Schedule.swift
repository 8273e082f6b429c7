import ControlledScheduler

/// How the decisions of one execution are made. As text it is what repeats the execution.
struct Schedule: CustomStringConvertible {
  enum Strategy: Equatable {
    case random
    case priorities(depth: Int, decisions: Int)
    /// With the decisions to repeat; nil continues the search.
    case systematic(delays: Int, path: String? = nil)
  }

  var strategy: Strategy
  var seed: UInt64 = 0
  var lateStores = false

  /// Whether the execution of the moment has late stores. Set before it begins.
  nonisolated(unsafe) private(set) static var hasLateStores = false

  var description: String {
    let late = lateStores ? "late-" : ""
    switch strategy {
    case .random: return "\(late)random:\(seed)"
    case .priorities(let depth, let decisions): return "\(late)priorities:\(depth):\(decisions):\(seed)"
    case .systematic(let delays, let path): return "systematic:\(delays):\(path ?? "")"
    }
  }

  init(_ strategy: Strategy, seed: UInt64 = 0, lateStores: Bool = false) {
    self.strategy = strategy
    self.seed = seed
    self.lateStores = lateStores
  }

  /// Reads what ``description`` wrote.
  init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    let lateStores = parts[0].hasPrefix("late-")
    switch (lateStores ? parts[0].dropFirst(5) : parts[0], parts.count) {
    case ("random", 2):
      guard let seed = UInt64(parts[1]) else { return nil }
      self.init(.random, seed: seed, lateStores: lateStores)
    case ("priorities", 4):
      guard let depth = Int(parts[1]), let decisions = Int(parts[2]), let seed = UInt64(parts[3]) else {
        return nil
      }
      self.init(.priorities(depth: depth, decisions: decisions), seed: seed, lateStores: lateStores)
    case ("systematic", 3):
      guard let delays = Int(parts[1]) else { return nil }
      self.init(.systematic(delays: delays, path: String(parts[2])))
    default: return nil
    }
  }

  /// Runs the body once on controlled threads.
  ///
  /// - Parameter name: Printed if the process dies.
  func run(
    named name: String = "", traces: Bool = false, mostPoints: Int = 100_000,
    _ body: @escaping @Sendable () -> Void
  ) -> Execution {
    Self.hasLateStores = lateStores
    var options = ctl_options()
    options.seed = seed
    options.late_stores = lateStores
    options.traces = traces
    options.most_points = UInt32(mostPoints)
    switch strategy {
    case .random: options.strategy = CTL_RANDOM
    case .priorities(let depth, let decisions):
      options.strategy = CTL_PRIORITIES
      options.depth = UInt32(depth)
      options.expected_decisions = UInt32(decisions)
    case .systematic(let delays, let path):
      options.strategy = CTL_SYSTEMATIC
      options.delays = UInt32(delays)
      if let path { precondition(ctl_search_parse(path), "not a path of decisions: \(path)") }
    }
    final class Body: Sendable {
      let run: @Sendable () -> Void
      init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
    let context = Body(body)
    var outcome = ctl_outcome()
    withExtendedLifetime(context) {
      "\(name) \(self)".withCString { label in
        options.label = label
        // Not nil: it is the reference below.
        ctl_run(
          &options, { Unmanaged<Body>.fromOpaque($0!).takeUnretainedValue().run() },
          Unmanaged.passUnretained(context).toOpaque(), &outcome)
      }
    }
    var schedule = self
    if case .systematic(let delays, _) = strategy {
      schedule.strategy = .systematic(delays: delays, path: Self.path())
    }
    return Execution(
      schedule: schedule, points: Int(outcome.points), decisions: Int(outcome.decisions),
      switches: Int(outcome.switches), threads: Int(outcome.threads), hash: outcome.hash,
      failure: outcome.failed ? String(cString: outcome.text) : nil)
  }

  private static func path() -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 65_536) { text in
      ctl_search_print(text.baseAddress!, text.count)
      return String(cString: text.baseAddress!)
    }
  }
}

/// What became of one execution.
struct Execution {
  let schedule: Schedule
  let points: Int
  let decisions: Int
  let switches: Int
  let threads: Int
  let hash: UInt64
  let failure: String?
}
