import ReactorCore

/// One producer of a ring's scenario.
struct RingProducer<C: Core> {
  let index: Int
  let load: RingLoad
  /// Nil: nothing is recorded.
  let clock: LogicalClock?
  var disturbance: Disturbance
  private var sequence = 0
  private(set) var sends: [History.Send] = []

  init(_ index: Int, load: RingLoad, clock: LogicalClock?, disturbance: Disturbance) {
    self.index = index
    self.load = load
    self.clock = clock
    self.disturbance = disturbance
  }

  /// Sends all its elements, and calls `notify` after each send; tries again when the ring is full.
  mutating func run(_ ring: borrowing RingOn<C, Item>, notifying notify: () -> Void = {}) {
    while sequence < load.elements {
      disturbance.step()
      if sendOnce(to: ring) { notify() } else { disturbance.idle() }
    }
  }

  private mutating func sendOnce(to ring: borrowing RingOn<C, Item>) -> Bool {
    let count = nextCount()
    let begin = clock?.now() ?? 0
    let isAccepted = count == 0 ? sendSingle(to: ring) : sendBatch(of: count, to: ring)
    let end = clock?.now() ?? 0
    if clock != nil {
      sends.append(
        History.Send(
          producer: index, sequence: sequence, count: max(1, count), begin: begin, end: end,
          outcome: isAccepted ? .accepted : .full))
    }
    if isAccepted { sequence += max(1, count) }
    return isAccepted
  }

  private func sendSingle(to ring: borrowing RingOn<C, Item>) -> Bool {
    ring.trySend(Item(producer: index, sequence: sequence)).isAccepted
  }

  private func sendBatch(of count: Int, to ring: borrowing RingOn<C, Item>) -> Bool {
    ring.trySend(count: count) { Item(producer: index, sequence: sequence + $0) } == .accepted
  }

  /// 0 for a single send, else the size of a batch: up to more than one slot's word can name.
  private mutating func nextCount() -> Int {
    let limit = min(load.capacity, load.elements - sequence, 300)
    switch load.sending {
    case .singles: return 0
    case .batches: return 1 + disturbance.below(limit)
    case .mixed: return disturbance.happens(onceIn: 2) ? 0 : 1 + disturbance.below(limit)
    }
  }
}
