import BenchmarkSupport
import ReactorCore

/// Rings alone: producers send, one thread takes out and reduces.
extension Catalogue {
  private static let limit = CaseOutline.Limit("limit.spsc")

  static let rings: [Case] = [
    Case(
      "ring.single", .fanIn(.busy), limit: limit,
      variants: [
        .subject("c", RingSubject<CCore>.self),
        .subject("swift", RingSubject<PureSwiftCore>.self),
        .subject("urcu-wfcqueue", WaitFreeQueueBaseline.self),
      ]),
    Case(
      "ring.batch16", .fanIn(.busy), limit: limit,
      variants: [
        .subject("c", RingBatchSubject<CCore>.self),
        .subject("swift", RingBatchSubject<PureSwiftCore>.self),
      ]),
    Case(
      "lanes.single", .fanIn(.busy), limit: limit,
      variants: [
        .subject("c", LaneSubject<CCore>.self),
        .subject("swift", LaneSubject<PureSwiftCore>.self),
      ]),
  ]
}
