import ReactorCore

/// One producer in a scenario with a ring.
struct RingProducer {
  let index: Int
  let load: RingLoad
  /// If nil, nothing is recorded.
  let recorder: HistoryRecorder?
  var disturbance: Disturbance
  private var sequence = 0
  private(set) var sends: [History.Send] = []

  init(_ index: Int, load: RingLoad, recorder: HistoryRecorder?, disturbance: Disturbance) {
    self.index = index
    self.load = load
    self.recorder = recorder
    self.disturbance = disturbance
  }

  /// Sends all its elements, and calls `notify` after each send. Retries when the ring is full.
  mutating func run(_ ring: borrowing Ring<Item>, notifying notify: () -> Void = {}) {
    while sequence < load.elements {
      disturbance.step()
      if sendOnce(to: ring) { notify() } else { disturbance.idle() }
    }
  }

  private mutating func sendOnce(to ring: borrowing Ring<Item>) -> Bool {
    let count = nextCount()
    var isAccepted = false
    func send() { isAccepted = count == 0 ? sendSingle(to: ring) : sendBatch(of: count, to: ring) }
    if let recorder {
      let record = recorder.send(index, sequence, count: max(1, count)) {
        send()
        return isAccepted ? .accepted : .full
      }
      sends.append(record)
    } else {
      send()
    }
    if isAccepted { sequence += max(1, count) }
    return isAccepted
  }

  private func item(_ sequence: Int) -> Item {
    Item(producer: index, sequence: sequence, countedBy: recorder?.payloads)
  }

  private func sendSingle(to ring: borrowing Ring<Item>) -> Bool {
    ring.trySend(item(sequence)).isAccepted
  }

  private func sendBatch(of count: Int, to ring: borrowing Ring<Item>) -> Bool {
    ring.trySend(count: count) { item(sequence + $0) } == .accepted
  }

  /// Returns 0 for a single send, or else the size of a batch, which may be longer than the run that one slot's word
  /// can hold.
  private mutating func nextCount() -> Int {
    let limit = min(load.capacity, load.elements - sequence, 300)
    switch load.sending {
    case .singles: return 0
    case .batches: return 1 + disturbance.below(limit)
    case .mixed: return disturbance.happens(onceIn: 2) ? 0 : 1 + disturbance.below(limit)
    }
  }
}

/// The consumer in a scenario with a ring.
struct RingConsumer {
  let load: RingLoad
  var disturbance: Disturbance
  private(set) var checker: SequenceChecker
  private(set) var log: OwnerLog

  /// - Parameter recorder: If nil, nothing is recorded.
  init(load: RingLoad, recorder: HistoryRecorder?, disturbance: Disturbance) {
    self.load = load
    log = OwnerLog(recorder)
    self.disturbance = disturbance
    checker = SequenceChecker(producers: load.producers)
  }

  /// Receives until nothing is left and `areProducersFinished` was true before the last drain.
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

  /// Drains a few elements or all, so that some drains end in the middle of a run.
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
