import AllocationCounting
import BenchmarkSupport
import CBenchmarkLimits

/// Producers on threads of their own send to one subject. The clock runs from their release until the subject has reduced
/// everything.
enum ThreadedMeasurement {
  static let capacity = 65_536

  /// - Parameter send: what the thread of one producer does.
  static func run<Subject: FanInSubject>(
    _: Subject.Type, _ consumer: ConsumerMode, capacity: Int = capacity, _ quota: Quota,
    _ inspector: Inspector?, _ instruments: Instruments,
    send: @escaping @Sendable (Subject, _ producer: Int) -> Void
  ) throws -> Measurement {
    let cpus = instruments.cpus
    let cpu = Subject.floats ? nil : cpus.consumer(producers: quota.producers)
    let subject = try Subject(
      SubjectSetup(
        producers: quota.producers, capacity: capacity, consumer: consumer, consumerCPU: cpu,
        inspector: inspector))
    let threads = try ProducerThreads(quota.producers, on: cpu.map(cpus.without)) { send(subject, $0) }
    let allocated = instruments.allocations?.begin()
    let slept = bl_sleeps_of_process()
    let start = quota.start()
    threads.release()
    let totals = try Inspector.whileReducing(inspector) {
      try cpus.confiningThread(to: cpu) { try subject.awaitTotals(quota) }
    }
    let end = bl_now_ns()
    let sleeps = bl_sleeps_of_process() - slept
    threads.join()
    try Verification.check(totals, quota.sent, inspector)
    return Measurement(
      nanoseconds: Double(end - start), actions: totals.count,
      allocations: allocated.flatMap { instruments.allocations?.count(since: $0) },
      sleeps: Int(sleeps), sleeping: subject.sleeping)
  }

  /// Each producer sends its share as fast as it can.
  static func fanIn<Subject: FanInSubject>(
    _: Subject.Type, _ consumer: ConsumerMode, capacity: Int, _ request: RepetitionRequest,
    _ instruments: Instruments
  ) throws -> Measurement {
    let inspector = request.checksOrder ? Inspector.order(producers: request.producers) : nil
    let quota = request.quota(mostItems: Subject.mostItems)
    return try run(Subject.self, consumer, capacity: capacity, quota, inspector, instruments) {
      subject, producer in
      quota.produce(chunk: Subject.chunk) { subject.produce(producer: producer, values: $0) }
    }
  }
}

extension RepetitionRequest {
  func quota(mostItems: Int?) -> Quota {
    Quota(total: min(count, mostItems ?? .max), producers: producers, timeLimit: timeLimit)
  }
}

/// One thread sends. In subjects that reduce on the sender's thread it reduces as well.
enum SynchronousMeasurement {
  /// The least number of items between two looks at the clock, for all subjects: a chunk that is short because threads may contend
  /// would make a subject look slower by one percent, where an item takes a few nanoseconds.
  private static let chunk = 4096

  static func run<Subject: FanInSubject>(
    _: Subject.Type, _ request: RepetitionRequest, _ instruments: Instruments
  ) throws -> Measurement {
    let inspector = request.checksOrder ? Inspector.order(producers: 1) : nil
    let subject = try Subject(
      SubjectSetup(
        producers: 1, capacity: ThreadedMeasurement.capacity, consumer: .spinning, inspector: inspector))
    let quota = request.quota(mostItems: Subject.mostItems)
    let allocated = instruments.allocations?.begin()
    let start = quota.start()
    quota.produce(chunk: max(Subject.chunk, chunk)) { subject.produce(producer: 0, values: $0) }
    let totals = try Inspector.whileReducing(inspector) { try subject.awaitTotals(quota) }
    let end = bl_now_ns()
    try Verification.check(totals, quota.sent, inspector)
    return Measurement(
      nanoseconds: Double(end - start), actions: totals.count,
      allocations: allocated.flatMap { instruments.allocations?.count(since: $0) })
  }
}

/// Open loop: one producer sends at times that are fixed in advance, and an item's latency counts from the time at which
/// it was due. So a stall of the subject counts for every item that it delayed, which a closed loop would hide. An item that was due
/// and never sent counts with its age when the producer gave up: its latency would have been longer.
enum LatencyMeasurement {
  /// Per action: how often any thread of the process fell asleep, how often the consumer's thread prepared to sleep, and
  /// how often it was woken. Each is one if each action finds it asleep.
  static let sleepingParts = ["sleeps", "parks", "wakes"].map { CaseOutline.Part($0, .perAction) }

  static func run<Subject: FanInSubject>(
    _: Subject.Type, _ consumer: ConsumerMode, every interval: Double, _ request: RepetitionRequest,
    _ instruments: Instruments
  ) throws -> Measurement {
    let quota = request.quota(mostItems: nil)
    let count = quota.total
    let inspector = Inspector.latency(count: count)
    let ticks = interval / instruments.nanosecondsPerTick
    var measurement = try ThreadedMeasurement.run(Subject.self, consumer, quota, inspector, instruments) {
      subject, _ in
      quota.finish(subject.produce(on: SendSchedule(count: count, every: ticks, within: quota)))
    }
    if let unsent = quota.unsent, !unsent.ages.isEmpty { measurement.unsent = unsent.ages.count }
    let latencies = inspector.latencies(
      and: quota.unsent, nanosecondsPerTick: instruments.nanosecondsPerTick)
    for percentile in CaseOutline.percentiles {
      measurement.parts[percentile.name] = Double(latencies.percentile(percentile.fraction))
    }
    func each(_ times: Int) -> Double { Double(times) / Double(max(1, measurement.actions)) }
    measurement.parts["sleeps"] = each(measurement.sleeps)
    measurement.parts["parks"] = measurement.sleeping.map { each($0.parks) }
    measurement.parts["wakes"] = measurement.sleeping.map { each($0.wakes) }
    return measurement
  }
}
