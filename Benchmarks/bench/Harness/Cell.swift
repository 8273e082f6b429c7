import BenchmarkSupport

/// One variant of one case with one number of producers, and what was measured of it.
final class Cell {
  let parent: Case
  let variant: Variant
  let producers: Int
  private(set) var samples: [(value: Measurement, placement: CorePlacement)] = []
  var failure: String?
  /// The most actions per nanosecond that were seen. The best and not the latest: a baseline that has
  /// collapsed once may run at full speed the next time, and time limits catch what overruns.
  private var rate = 0.0

  init(_ parent: Case, _ variant: Variant, producers: Int) {
    self.parent = parent
    self.variant = variant
    self.producers = producers
  }

  /// All that was measured of one thing in several groups; nil for no cells.
  convenience init?(merging cells: [Cell]) {
    guard let first = cells.first else { return nil }
    self.init(first.parent, first.variant, producers: first.producers)
    samples = cells.flatMap(\.samples)
    failure = cells.compactMap(\.failure).first
  }

  var description: String { "\(parent.name) \(variant.name) P=\(producers)" }

  /// Measures once, without keeping anything but the rate.
  @discardableResult
  func measure(_ request: RepetitionRequest, _ instruments: Instruments) throws -> Measurement {
    let measurement = try variant.measure(parent.shape, request, instruments)
    rate = max(rate, Double(measurement.actions) / max(1, measurement.nanoseconds))
    return measurement
  }

  func keep(_ measurement: Measurement, _ placement: CorePlacement) {
    samples.append((measurement, placement))
  }

  /// Actions that will take about so long.
  func count(for nanoseconds: Double) -> Int {
    if case .latency(let consumer) = parent.shape {
      return max(20, Int(nanoseconds / LatencyMeasurement.interval(consumer)))
    }
    return max(16 * producers, Int(rate * nanoseconds))
  }

  /// How many times the usual time a repetition gets. Latencies to a sleeping consumer are few in a given
  /// time, and a percentile needs many; readers share cores, and each must get its turn.
  var patience: Double {
    switch parent.shape {
    case .latency(.parked), .readers: 4
    default: 1
    }
  }
}
