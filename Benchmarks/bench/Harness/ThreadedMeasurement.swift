import AllocationCounting
import CBenchmarkLimits

/// Producers on threads of their own send into one subject; the clock runs from their release until the
/// subject has reduced all.
enum ThreadedMeasurement {
  static let capacity = 65_536

  /// - Parameter send: what the thread of one producer does.
  static func run<Subject: FanInSubject>(
    _: Subject.Type, _ consumer: ConsumerMode, _ quota: Quota, _ inspector: Inspector?,
    _ instruments: Instruments, send: @escaping @Sendable (Subject, _ producer: Int) -> Void
  ) throws -> Measurement {
    let cpus = instruments.cpus
    let cpu = Subject.usesPool ? nil : cpus.consumer(producers: quota.producers)
    let subject = try Subject(
      SubjectSetup(
        producers: quota.producers, capacity: capacity, consumer: consumer, consumerCPU: cpu,
        inspector: inspector))
    let threads = try ProducerThreads(quota.producers, on: cpu.map(cpus.without)) { send(subject, $0) }
    let allocated = instruments.allocations?.begin()
    let slept = bl_sleeps_of_process()
    let start = quota.start()
    threads.release()
    let totals = try cpus.confiningThread(to: cpu) { try subject.awaitTotals(quota) }
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
    _: Subject.Type, _ consumer: ConsumerMode, _ request: RepetitionRequest, _ instruments: Instruments
  ) throws -> Measurement {
    let inspector = request.checksOrder ? Inspector.order(producers: request.producers) : nil
    let quota = request.quota(mostItems: Subject.mostItems)
    return try run(Subject.self, consumer, quota, inspector, instruments) { subject, producer in
      quota.produce(chunk: Subject.chunk) { subject.produce(producer: producer, values: $0) }
    }
  }
}

extension RepetitionRequest {
  func quota(mostItems: Int?) -> Quota {
    Quota(total: min(count, mostItems ?? .max), producers: producers, timeLimit: timeLimit)
  }
}
