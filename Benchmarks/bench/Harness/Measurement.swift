import AllocationCounting
import BenchmarkSupport
import CBenchmarkLimits

/// What one repetition is to do.
struct RepetitionRequest: Codable, Sendable {
  var producers: Int
  /// Items over all producers.
  var count: Int
  /// Of the cases of many.
  var reactors: Int
  /// About how long it is to take, in nanoseconds, where time says how much it does.
  var duration: Double
  /// Nanoseconds after which it is cut short.
  var timeLimit: UInt64
  /// Check the order of each producer's items too, which is slower and therefore not timed.
  var checksOrder = false
}

/// What one repetition has found. That it exists says that its totals were right.
struct Measurement: Codable, Sendable {
  var nanoseconds: Double
  var actions: Int
  var allocations: Int?
  /// How often a thread of the process fell asleep, as the system counts it.
  var sleeps = 0
  /// What the subject itself knows of its thread's sleep.
  var sleeping: Sleeping?
  /// By the names of the case's parts, if it has any.
  var parts: [String: Double] = [:]

  var nanosecondsPerAction: Double { nanoseconds / Double(max(1, actions)) }
  var millionPerSecond: Double { Double(actions) / nanoseconds * 1e3 }
}

/// What all measurements share.
struct Instruments: Sendable {
  var allocations: AllocationCounter?
  var nanosecondsPerTick: Double
  var cpus: CPUSet
}

extension Instruments {
  /// Calibrates the clocks and checks what can be counted here.
  static func ofThisMachine() -> Instruments {
    let cpus = CPUSet.allowed()
    return Instruments(
      allocations: AllocationCounter(cores: cpus.cpus.count), nanosecondsPerTick: bl_ns_per_tick(),
      cpus: cpus)
  }
}

/// The CPUs that this process may run on, and who runs where.
///
/// While there is a core for every thread, the consumer gets one and the producers the others: floating,
/// the two ends of a ring sometimes share a core and hand over through its cache, many times faster than
/// cores can, and no probe would tell. With more threads than cores all of them float, since being moved
/// and preempted is then what a service meets.
struct CPUSet: Sendable {
  let cpus: [Int32]

  /// Those that the process may run on now.
  static func allowed() -> CPUSet {
    var cpus = [Int32](repeating: 0, count: 1024)
    let count = bl_allowed_cpus(&cpus, cpus.count)
    return CPUSet(cpus: Array(cpus.prefix(count)))
  }

  /// Where the consumer goes; nil if it floats. The second CPU: interrupts tend to prefer the first.
  func consumer(producers: Int) -> Int32? {
    producers < cpus.count ? cpus[1] : nil
  }

  /// Where one thread goes that others read from, and where these go: all, if there is one only.
  var ownersOnly: CPUSet { cpus.count > 1 ? CPUSet(cpus: [cpus[1]]) : self }
  var readersOnly: CPUSet { cpus.count > 1 ? without(cpus[1]) : self }

  func without(_ cpu: Int32?) -> CPUSet {
    CPUSet(cpus: cpus.filter { $0 != cpu })
  }

  /// Confines the calling thread; where the system forbids it, the thread floats.
  func confineThread() {
    _ = bl_confine(cpus, cpus.count)
  }

  /// Runs `body` with the calling thread on `cpu`.
  func confiningThread<Result>(to cpu: Int32?, _ body: () throws -> Result) rethrows -> Result {
    guard let cpu else { return try body() }
    CPUSet(cpus: [cpu]).confineThread()
    defer { confineThread() }
    return try body()
  }

  /// Nanoseconds of a round trip between the first two CPUs, nil if it cannot be measured. Takes well below
  /// a millisecond while the cores are near.
  func roundTrip(batches: Int = 20, batchSize: Int = 50) -> Double? {
    guard cpus.count >= 2 else { return nil }
    let nanoseconds = bl_round_trip_ns(cpus[0], cpus[1], batches, batchSize)
    return nanoseconds > 0 ? nanoseconds : nil
  }
}
