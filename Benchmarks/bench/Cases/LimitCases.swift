/// What the machine can do at best.
extension Catalogue {
  static let limits: [Case] = [
    Case(limit: "limit.spsc", .millionPerSecond, producers: 1, variant: .spsc),
    Case(limit: "limit.roundtrip", .nanoseconds, producers: 1, needsTwoCores: true, variant: .roundTrip),
    Case(limit: "limit.fetchadd", .nanoseconds, producers: 1, variant: .fetchAdd),
    Case(
      limit: "limit.fetchadd-contended", .millionPerSecond, producers: 2, needsTwoCores: true,
      variant: .fetchAddContended),
    Case(limit: "limit.futexwake", .nanoseconds, producers: 1, variant: .futexWake),
    Case(
      limit: "limit.wakeup", .nanoseconds, .latency(.parked), producers: 1, needsTwoCores: true,
      variant: .subject("limit", SleeperLimit.self)),
  ]
}
