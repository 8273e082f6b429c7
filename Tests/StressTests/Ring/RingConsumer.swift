import ReactorCore

/// The consumer of a ring's scenario.
struct RingConsumer<C: Core> {
  let load: RingLoad
  /// Nil: nothing is recorded.
  let clock: LogicalClock?
  var disturbance: Disturbance
  private(set) var checker: SequenceChecker
  private(set) var history = History()
  private var received = 0

  init(load: RingLoad, clock: LogicalClock?, disturbance: Disturbance) {
    self.load = load
    self.clock = clock
    self.disturbance = disturbance
    checker = SequenceChecker(producers: load.producers)
  }

  /// Receives until nothing is left and `areProducersFinished` was true before the last look.
  mutating func run(_ ring: borrowing RingOn<C, Item>, until areProducersFinished: () -> Bool) {
    while true {
      let wasLast = areProducersFinished()
      let count = drainOnce(ring)
      received += count
      if let clock { history.releases.append(History.Release(time: clock.now(), released: received)) }
      if count > 0 {
        disturbance.step()
      } else if wasLast {
        return
      } else {
        disturbance.idle()
      }
    }
  }

  /// At most a few elements, or all; so that runs are left in the middle, too.
  private mutating func drainOnce(_ ring: borrowing RingOn<C, Item>) -> Int {
    let limit = disturbance.happens(onceIn: 4) ? Int.max : 1 + disturbance.below(2 * load.capacity)
    let clock = clock
    return ring.drain(upTo: limit) { item in
      checker.receive(item)
      if let clock { history.receptions.append(History.Reception(element: item.id, time: clock.now())) }
    }
  }
}
