extension RingOn where Element: ~Copyable {
  /// Receives what is published, oldest first, at most `limit` elements, and answers how many. Consumer.
  ///
  /// Stops at the limit, or at a slot that is not published yet, even if later ones are; so without a limit
  /// it goes on for as long as the producers keep pace. Slots are given back to the producers while draining,
  /// at the latest every 64 elements. `body` may send to this ring; it must not drain it.
  @inlinable
  @inline(__always)
  public func drain(upTo limit: Int = .max, _ body: (consuming Element) -> Void) -> Int {
    drain(upTo: limit) { element, _ in body(element) }
  }

  /// As ``drain(upTo:_:)-(_,(Element)->Void)``, with each element's cursor.
  @inlinable
  @inline(__always)
  public func drain(upTo limit: Int = .max, _ body: (consuming Element, UInt64) -> Void) -> Int {
    #if DEBUG
      drainGuard.enter()
      defer { drainGuard.leave() }
    #endif
    let slots = raw.slots
    var cursor = raw.head
    var run = raw.runLeft
    var released = cursor
    var received = 0
    let releaseEvery = UInt64(min(64, max(1, raw.capacity / 4)))
    draining: while received < limit {
      if run == 0 {
        switch raw.peek(cursor) {
        case .notReady:
          break draining
        case .skip(let count):
          cursor &+= UInt64(count)
          continue draining
        case .run(let count):
          run = count
        }
      }
      body(slots.payload(cursor, as: Element.self).move(), cursor)
      cursor &+= 1
      run -= 1
      received += 1
      if cursor &- released >= releaseEvery {
        raw.release(cursor)
        released = cursor
      }
    }
    raw.runLeft = run
    if cursor != released { raw.release(cursor) }
    return received
  }

  /// The cursor of the next element to receive. Consumer.
  @inlinable
  public var head: UInt64 { raw.head }

  /// The cursor that the next send gets: every send that returned has a smaller one. Any thread.
  @inlinable
  public var tail: UInt64 { raw.tail }

  /// Whether the ring is open and nothing is inside or on its way in. Consumer.
  ///
  /// One half of a pair: who leaves a ``Trampoline`` and then finds the ring idle misses no send of
  /// somebody who claims and then finds the trampoline busy. The argument stands in `rr_trampoline.h`.
  @inlinable
  public var isIdle: Bool { raw.isIdle }

  /// Whether nothing is inside or on its way in, open or closed. Consumer; the same half as ``isIdle``.
  @inlinable
  public var isEmpty: Bool { raw.tail << 1 == raw.head << 1 }

  /// Whether an element that was sent by itself is ready at the head. Any thread; false may be wrong if
  /// somebody drained meanwhile, or stopped in the middle of a batch.
  @inlinable
  public var wasReady: Bool { raw.peek(raw.head) != .notReady }

  /// Whether an element is ready to be received. Consumer.
  @inlinable
  public var isReady: Bool { raw.runLeft != 0 || raw.peek(raw.head) != .notReady }
}
