import ReactorCore

/// The consumer of a ring's scenario.
struct RingConsumer {
  let load: RingLoad
  var disturbance: Disturbance
  private(set) var checker: SequenceChecker
  private(set) var log: OwnerLog

  /// - Parameter recorder: Nil: nothing is recorded.
  init(load: RingLoad, recorder: HistoryRecorder?, disturbance: Disturbance) {
    self.load = load
    log = OwnerLog(recorder)
    self.disturbance = disturbance
    checker = SequenceChecker(producers: load.producers)
  }

  /// Receives until nothing is left and `areProducersFinished` was true before the last look.
  mutating func run(_ ring: borrowing Ring<Item>, until areProducersFinished: () -> Bool) {
    while true {
      let wasLast = areProducersFinished()
      let count = drainOnce(ring)
      log.noteReleased()
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
  private mutating func drainOnce(_ ring: borrowing Ring<Item>) -> Int {
    let limit = disturbance.happens(onceIn: 4) ? Int.max : 1 + disturbance.below(2 * load.capacity)
    log.beginTurn()
    defer { log.endTurn() }
    return ring.drain(upTo: limit) { item in
      checker.receive(item)
      log.receive(item.id)
    }
  }
}
