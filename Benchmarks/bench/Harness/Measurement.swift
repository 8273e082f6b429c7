import AllocationCounting
import BenchmarkSupport

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
