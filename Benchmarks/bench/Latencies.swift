import BenchmarkSupport

/// The time from when an action was due until it was reduced. A baseline that can wait in one way only is a variant of
/// the case that waits in that way.
///
/// An actor has no place in `latency.parked`: the task that calls it reduces the item itself, and nobody sleeps whom it would
/// have to wake.
extension Catalogue {
  /// One way is half of a round trip.
  private static let oneWay = CaseOutline.Limit("limit.roundtrip", scale: 0.5)

  static let latencies: [Case] =
    [
      Case(
        "latency.busy", .latency(.busy, interval: 2000), limit: oneWay,
        variants: [
          .onCore(LoopReactorSubject.self),
          .onCore(FloatingLoopSubject.self, suffix: "-floating"),
          .subject("swapped-array", SwappedArrayBaseline.self),
        ]),
      Case(
        "latency.spinning", .latency(.spinning, interval: 2000), limit: oneWay,
        variants: [
          .onCore(LoopReactorSubject.self),
          .onCore(FloatingLoopSubject.self, suffix: "-floating"),
          .subject("dispatch", DispatchQueueBaseline.self),
          .subject("asyncstream", AsyncStreamBaseline.self),
          .subject("swapped-array", SwappedArrayBaseline.self),
        ]),
      Case(
        "latency.parked", .latency(.parked, interval: 200_000), limit: CaseOutline.Limit("limit.wakeup"),
        variants: [
          .onCore(LoopReactorSubject.self),
          .onCore(FloatingLoopSubject.self, suffix: "-floating"),
          .subject("dispatch", DispatchQueueBaseline.self),
          .subject("asyncstream", AsyncStreamBaseline.self),
          .subject("swapped-array", SwappedArrayBaseline.self),
        ]),
    ] + underLoad

  /// The same by how many thousand items are due each second, up to more than any subject can take: then the latency is that
  /// of a queue that grows. `direct` is what the harness takes without a subject.
  private static let underLoad: [Case] = [
    100, 500, 1000, 2000, 5000, 10_000, 20_000, 40_000, 80_000,
  ].map { rate in
    Case(
      "latency.load.\(rate)", .latency(.spinning, interval: 1e6 / Double(rate)), limit: oneWay,
      variants: [
        .onCore(LoopReactorSubject.self),
        .onCore(FloatingLoopSubject.self, suffix: "-floating"),
        .subject("dispatch", DispatchQueueBaseline.self),
        .subject("actor", ActorBaseline.self),
        .subject("direct", DirectBaseline.self),
        .subject("swapped-array", SwappedArrayBaseline.self),
      ])
  }
}
