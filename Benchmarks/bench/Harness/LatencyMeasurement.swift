import BenchmarkSupport
import CBenchmarkLimits

/// Open loop: one producer sends at times that were fixed beforehand, and an item's latency counts from
/// the time at which it was due. So a subject that stalls pays for all that it has delayed, which a closed
/// loop would hide.
enum LatencyMeasurement {
  /// Nanoseconds from one item to the next. A parked consumer gets the time to fall asleep again.
  static func interval(_ consumer: ConsumerMode) -> Double {
    consumer == .parked ? 200_000 : 2_000
  }

  /// Per action, how often any thread of the process fell asleep, and how often the consumer's thread got
  /// ready for it and was woken: one each, if each action finds it asleep.
  static let sleepingParts = ["sleeps", "parks", "wakes"].map { CaseOutline.Part($0, .perAction) }

  static func run<Subject: FanInSubject>(
    _: Subject.Type, _ consumer: ConsumerMode, _ request: RepetitionRequest, _ instruments: Instruments
  ) throws -> Measurement {
    let inspector = Inspector.latency(nanosecondsPerTick: instruments.nanosecondsPerTick)
    let quota = request.quota(mostItems: nil)
    let count = quota.total
    let ticks = interval(consumer) / instruments.nanosecondsPerTick
    var measurement = try ThreadedMeasurement.run(Subject.self, consumer, quota, inspector, instruments) {
      subject, _ in
      quota.finish(send(count, every: ticks, to: subject))
    }
    for percentile in CaseOutline.percentiles {
      measurement.parts[percentile.name] = Double(inspector.latencies.percentile(percentile.fraction))
    }
    func each(_ times: Int) -> Double { Double(times) / Double(max(1, measurement.actions)) }
    measurement.parts["sleeps"] = each(measurement.sleeps)
    measurement.parts["parks"] = measurement.sleeping.map { each($0.parks) }
    measurement.parts["wakes"] = measurement.sleeping.map { each($0.wakes) }
    return measurement
  }

  /// Sends each item at its time, or as soon after as the subject lets it; its value is that time.
  private static func send(_ count: Int, every ticks: Double, to subject: some FanInSubject) -> Totals {
    var sum: UInt64 = 0
    // Time for a parked consumer to fall asleep.
    let start = bl_ticks() + UInt64(ticks)
    for index in 0..<count {
      let due = start + UInt64(Double(index) * ticks)
      while bl_ticks() < due {}
      subject.produce(producer: 0, values: due..<due + 1)
      sum &+= due
    }
    return Totals(count: count, sum: sum)
  }
}
