import AllocationCounting
import BenchmarkSupport
import CBenchmarkLimits

/// What one repetition is to do.
struct RepetitionRequest: Codable, Sendable {
  var producers: Int
  /// The number of items of all producers together.
  var count: Int
  /// The number of members in the cases `scale`, and of elements in the cases `state`.
  var reactors: Int
  /// About how long it is to take, in nanoseconds, if its length is a time and not a number of items.
  var duration: Double
  /// Nanoseconds after which its producers stop early.
  var timeLimit: UInt64
  /// Whether it also checks the order of each producer's items, which is slower and therefore not timed.
  var checksOrder = false
}

/// The figures of one repetition whose totals were right.
struct Measurement: Codable, Sendable {
  var nanoseconds: Double
  var actions: Int
  var allocations: Int?
  /// How often a thread of the process fell asleep, as the system counts it.
  var sleeps = 0
  /// What the subject itself counts of its thread's sleep.
  var sleeping: Sleeping?
  /// How many items were due but not sent. Then latencies are lower bounds. Nil if all were sent.
  var unsent: Int?
  /// The figures of the case's parts, by name, if it has any.
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
  /// Calibrates the clock, and finds out whether allocations can be counted here.
  static func ofThisMachine() -> Instruments {
    let cpus = CPUSet.allowed()
    return Instruments(
      allocations: AllocationCounter(cores: cpus.cpus.count), nanosecondsPerTick: bl_ns_per_tick(),
      cpus: cpus)
  }
}

/// The CPUs that this process may run on, and which threads run where.
///
/// While there is a core for every thread, the consumer gets one and the producers the others. If they floated, the two
/// ends of a ring would sometimes share a core and hand over through its cache, many times faster than two cores can, and
/// no measured round trip would show it. With more threads than cores all of them float: being moved and preempted is then
/// what happens to a service, too.
struct CPUSet: Sendable {
  let cpus: [Int32]

  /// The CPUs that the process may run on now.
  static func allowed() -> CPUSet {
    var cpus = [Int32](repeating: 0, count: 1024)
    let count = bl_allowed_cpus(&cpus, cpus.count)
    return CPUSet(cpus: Array(cpus.prefix(count)))
  }

  /// The CPU of the consumer; nil if it floats. The second one, since interrupts are mostly handled by the first.
  func consumer(producers: Int) -> Int32? {
    producers < cpus.count ? cpus[1] : nil
  }

  /// The CPU of an owner whose state others read, and the CPUs of those readers. All, if there is only one.
  var ownersOnly: CPUSet { cpus.count > 1 ? CPUSet(cpus: [cpus[1]]) : self }
  var readersOnly: CPUSet { cpus.count > 1 ? without(cpus[1]) : self }

  func without(_ cpu: Int32?) -> CPUSet {
    CPUSet(cpus: cpus.filter { $0 != cpu })
  }

  /// Confines the calling thread. If the system forbids that, the thread floats.
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

  /// Nanoseconds of a round trip between the first two CPUs; nil if it cannot be measured. Takes much less than a
  /// millisecond while the cores are near. With more than two CPUs, it stands for all pairs of them: those that are not probed may be
  /// nearer or further.
  func roundTrip(batches: Int = 20, batchSize: Int = 50) -> Double? {
    guard cpus.count >= 2 else { return nil }
    let nanoseconds = bl_round_trip_ns(cpus[0], cpus[1], batches, batchSize)
    return nanoseconds > 0 ? nanoseconds : nil
  }
}
