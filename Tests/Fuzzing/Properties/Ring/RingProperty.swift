import ReactorCore
import TestSupport

extension FuzzProperty {
  /// A ring does what an array does: claims that are published in any order or abandoned, batches, drains that end
  /// early, closing, and cursors that wrap. `full` is truthful, and each element is destroyed once.
  public static func ring<C: Core>(on _: C.Type) -> FuzzProperty {
    FuzzProperty("ring") { bytes throws(Mismatch) in try RingProperty<C>.run(RingCase(bytes)) }
  }
}

enum RingProperty<C: Core> {
  static func run(_ ringCase: RingCase) throws(Mismatch) {
    let lifetimes = Lifetimes()
    let log = try RingRun<C>.run(ringCase, lifetimes)
    try log.expect(lifetimes.alive, is: 0, "the number of elements that outlive the ring")
  }
}

/// One ring beside its model.
private final class RingRun<C: Core> {
  let ring: C.Ring
  let lifetimes: Lifetimes
  var model: RingModel
  var log = FuzzLog<RingOperation>()
  var claims: [RingModel.Claim] = []
  var lastValue = 0

  init(_ ringCase: RingCase, _ lifetimes: Lifetimes) {
    do {
      ring = try C.Ring(
        capacity: ringCase.capacity, size: MemoryLayout<LifetimeTracked>.stride,
        alignment: MemoryLayout<LifetimeTracked>.alignment, startingAt: ringCase.start)
    } catch { fatalError("a ring of \(ringCase.capacity) slots cannot be made: \(error)") }
    model = RingModel(capacity: ringCase.capacity, start: ringCase.start)
    self.lifetimes = lifetimes
  }

  deinit {
    ring.destroyElements(of: LifetimeTracked.self)
    ring.destroy()
  }

  static func run(_ ringCase: RingCase, _ lifetimes: Lifetimes) throws(Mismatch) -> FuzzLog<RingOperation> {
    let run = RingRun(ringCase, lifetimes)
    do throws(Mismatch) {
      for operation in ringCase.operations {
        run.log.append(operation)
        try run.perform(operation)
        try run.compare()
      }
    } catch {
      // Leaks the ring, since a ring with wrong contents would destroy an element twice.
      _ = Unmanaged.passRetained(run)
      throw error
    }
    return run.log
  }

  private func perform(_ operation: RingOperation) throws(Mismatch) {
    switch operation {
    case .claim(let count): try claim(count)
    case .publish(let which): publish(which)
    case .abandon(let which):
      guard let claim = takeClaim(which) else { return }
      ring.abandon(model.cursor(claim.position), count: claim.count)
      model.abandon(claim)
    case .send: try send()
    case .sendBatch(let count): try sendBatch(count)
    case .drain(let limit): try drain(upTo: limit, sending: false)
    case .drainSending(let limit): try drain(upTo: limit, sending: true)
    case .close:
      ring.close()
      model.close()
    }
  }

  // MARK: Producers

  private func makeElement() -> LifetimeTracked {
    lastValue += 1
    return lifetimes.track(lastValue)
  }

  private func claim(_ count: Int) throws(Mismatch) {
    let position = model.tail
    let expected = model.claim(count)
    try log.expect(ring.tryClaim(count), is: expected, "the outcome of the claim")
    if case .claimed = expected { claims.append(.init(position: position, count: count)) }
  }

  private func takeClaim(_ which: Int) -> RingModel.Claim? {
    claims.isEmpty ? nil : claims.remove(at: which % claims.count)
  }

  private func publish(_ which: Int) {
    guard let claim = takeClaim(which) else { return }
    var values: [Int] = []
    for index in 0..<claim.count {
      let element = makeElement()
      values.append(element.value)
      ring.payload(model.cursor(claim.position + index))
        .initializeMemory(as: LifetimeTracked.self, to: element)
    }
    ring.publish(model.cursor(claim.position), count: claim.count)
    model.publish(claim, values)
  }

  private func send() throws(Mismatch) {
    let element = makeElement()
    let position = model.tail
    let expected = model.claim(1)
    switch (ring.trySend(element), expected) {
    case (.accepted, .claimed): model.publish(.init(position: position, count: 1), [element.value])
    case (.full(let back), .full), (.closed(let back), .closed):
      try log.expect(back.value, is: element.value, "the element that came back")
    case (.accepted, _): throw log.mismatch("the element was accepted, and must not be: \(expected).")
    case (.full, _): throw log.mismatch("the ring says that it is full, and must not: \(expected).")
    case (.closed, _): throw log.mismatch("the ring says that it is closed, and must not: \(expected).")
    }
  }

  private func sendBatch(_ count: Int) throws(Mismatch) {
    let position = model.tail
    let expected: BatchOutcome =
      switch model.claim(count) {
      case .claimed: .accepted
      case .full: .full
      case .closed: .closed
      case .invalidCount: .invalidCount
      }
    let elements = expected == .accepted ? (0..<count).map { _ in makeElement() } : []
    let found = ring.trySend(count: count) { index in
      elements.indices.contains(index) ? elements[index] : lifetimes.track(-1)
    }
    try log.expect(found, is: expected, "the outcome of the batch")
    if expected == .accepted {
      model.publish(.init(position: position, count: count), elements.map(\.value))
    }
  }

  // MARK: The consumer

  private func drain(upTo limit: Int, sending: Bool) throws(Mismatch) {
    var mismatch: Mismatch?
    var expectedCount = 0
    let count = ring.drain(upTo: limit, of: LifetimeTracked.self) { element, cursor in
      if mismatch != nil { return }
      do throws(Mismatch) {
        expectedCount += 1
        try receive(element, cursor)
        if sending { try send() }
        model.releaseIfDue()
      } catch { mismatch = error }
    }
    if let mismatch { throw mismatch }
    model.endDrain(isCutShort: count >= limit)
    try log.expect(count, is: expectedCount, "the number of elements that the drain has counted")
    try log.expect(!model.isReady || count >= limit, "the drain has left an element that is ready.")
  }

  private func receive(_ element: LifetimeTracked, _ cursor: UInt64) throws(Mismatch) {
    guard let expected = model.receive() else {
      throw log.mismatch("element \(element.value) was received, and nothing is there.")
    }
    try log.expect(element.value, is: expected.value, "the element that was received")
    try log.expect(cursor << 1, is: expected.cursor << 1, "its cursor, doubled,")
  }

  /// Compares what any thread can query.
  private func compare() throws(Mismatch) {
    try log.expect(ring.head << 1, is: model.cursor(model.head) << 1, "the head, doubled,")
    try log.expect(ring.tail << 1, is: model.cursor(model.tail) << 1, "the tail, doubled,")
    try log.expect(ring.wasCount, is: model.slots.count, "the number of slots that are taken")
    try log.expect(ring.isClosed, is: model.isClosed, "whether the ring is closed")
    try log.expect(ring.isEmpty, is: model.slots.isEmpty, "whether the ring is empty")
    try log.expect(ring.isIdle, is: model.slots.isEmpty && !model.isClosed, "whether the ring is idle")
    try log.expect(ring.isReady, is: model.isReady, "whether an element is ready")
    try log.expect(ring.isHeadPublished, is: model.isReadyByItsWord, "whether the word at the head says so")
    try log.expect(lifetimes.alive, is: model.elementCount, "the number of living elements")
  }
}
