import BenchmarkSupport
import ReactorCore

/// From the time at which an action was due to its reduction. A baseline that waits in its own way stands
/// only where that way is the case's.
extension Catalogue {
  /// One way is half of a round trip.
  private static let oneWay = CaseOutline.Limit("limit.roundtrip", scale: 0.5)

  static let latencies: [Case] = [
    Case(
      "latency.busy", .latency(.busy), limit: oneWay,
      variants: [
        .onCore(LoopReactorSubject.self),
        .subject("swapped-array", SwappedArrayBaseline.self),
      ]),
    Case(
      "latency.spinning", .latency(.spinning), limit: oneWay,
      variants: [
        .onCore(LoopReactorSubject.self),
        .subject("dispatch", DispatchQueueBaseline.self),
        .subject("asyncstream", AsyncStreamBaseline.self),
        .subject("swapped-array", SwappedArrayBaseline.self),
      ]),
    Case(
      "latency.parked", .latency(.parked), limit: CaseOutline.Limit("limit.wakeup"),
      variants: [
        .onCore(LoopReactorSubject.self),
        .subject("dispatch", DispatchQueueBaseline.self),
        .subject("actor", ActorBaseline.self),
        .subject("asyncstream", AsyncStreamBaseline.self),
        .subject("swapped-array", SwappedArrayBaseline.self),
      ]),
  ]
}
