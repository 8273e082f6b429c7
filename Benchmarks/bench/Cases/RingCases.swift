import BenchmarkSupport
import PureSwiftCore
import ReactorCore

/// The parts of both cores in one process. Producers send to a ring or to lanes, and one thread receives and reduces;
/// or each producer takes the ownership and reduces itself.
extension Catalogue {
  private static let limit = CaseOutline.Limit("limit.spsc")

  static let rings: [Case] = [
    Case(
      "ring.single", .fanIn(.busy), limit: limit,
      variants: [
        .subject("c", RingSubject<CCore>.self),
        .subject("swift", RingSubject<SwiftCore>.self),
        .subject("urcu-wfcqueue", WaitFreeQueueBaseline.self),
      ]),
    Case(
      "ring.batch16", .fanIn(.busy), limit: limit,
      variants: [
        .subject("c", RingBatchSubject<CCore>.self),
        .subject("swift", RingBatchSubject<SwiftCore>.self),
      ]),
    Case(
      "lanes.single", .fanIn(.busy), limit: limit,
      variants: [
        .subject("c", LaneSubject<CCore>.self),
        .subject("swift", LaneSubject<SwiftCore>.self),
      ]),
    Case(
      "ownership", .fanIn(.spinning), limit: CaseOutline.Limit("limit.fetchadd-contended"),
      variants: [
        .subject("c", OwnershipSubject<CCore>.self),
        .subject("swift", OwnershipSubject<SwiftCore>.self),
      ]),
  ]
}
