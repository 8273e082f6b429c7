import AllocationCounting
import BenchmarkSupport

/// What one repetition is to do.
struct RepetitionRequest: Sendable {
  var producers: Int
  /// Items over all producers.
  var count: Int
  /// Nanoseconds after which it is cut short.
  var timeLimit: UInt64
  /// Check the order of each producer's items too, which is slower and therefore not timed.
  var checksOrder = false
}

/// What one repetition has found. That it exists says that its totals were right.
struct Measurement: Sendable {
  var nanoseconds: Double
  var actions: Int
  var allocations: Int?
  var latencies: Histogram?

  var nanosecondsPerAction: Double { nanoseconds / Double(max(1, actions)) }
  var millionPerSecond: Double { Double(actions) / nanoseconds * 1e3 }
}

/// What all measurements share.
struct Instruments: Sendable {
  var allocations: AllocationCounter?
  var nanosecondsPerTick: Double
  var cpus: CPUSet
}
