import AllocationCounting
import CBenchmarkLimits

/// One thread, which sends and, in subjects that reduce on the sender's thread, reduces as well.
enum SynchronousMeasurement {
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
    quota.produce(chunk: Subject.chunk) { subject.produce(producer: 0, values: $0) }
    let totals = try subject.awaitTotals(quota)
    let end = bl_now_ns()
    try Verification.check(totals, quota.sent, inspector)
    return Measurement(
      nanoseconds: Double(end - start), actions: totals.count,
      allocations: allocated.flatMap { instruments.allocations?.count(since: $0) })
  }
}
