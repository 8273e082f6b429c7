/// The algorithms of ``Ring`` for any core: everything but the ownership of the memory.
///
/// Each function requires that the ring was created for elements of the same type.
extension RawRing {
  /// Sends one element if there is room. Any thread; lock-free.
  @inlinable
  @inline(__always)
  public func trySend<Element: ~Copyable>(_ element: consuming Element) -> SendOutcome<Element> {
    switch tryClaim(1) {
    case .claimed(let cursor):
      slots.payload(cursor, as: Element.self).initialize(to: element)
      publish(cursor, count: 1)
      return .accepted
    case .closed:
      return .closed(element)
    case .full, .invalidCount:
      return .full(element)
    }
  }

  /// Sends `count` elements with one claim, all or none. Any thread; lock-free.
  @inlinable
  @inline(__always)
  public func trySend<Element: ~Copyable>(count: Int, _ make: (Int) -> Element) -> BatchOutcome {
    switch tryClaim(count) {
    case .claimed(let cursor):
      let slots = slots
      for index in 0..<count {
        let slot = cursor &+ UInt64(truncatingIfNeeded: index)
        slots.payload(slot, as: Element.self).initialize(to: make(index))
      }
      publish(cursor, count: count)
      return .accepted
    case .full: return .full
    case .closed: return .closed
    case .invalidCount: return .invalidCount
    }
  }

  /// Receives at most `limit` published elements with their cursors, oldest first, and returns how many. Consumer.
  ///
  /// Releases slots while draining, at the latest after every 64 elements, so that producers that wait for room do not
  /// have to wait for the end of the drain.
  @inlinable
  @inline(__always)
  public func drain<Element: ~Copyable>(
    upTo limit: Int, of _: Element.Type = Element.self, _ body: (consuming Element, UInt64) -> Void
  ) -> Int {
    let slots = slots
    var cursor = head
    var run = runLeft
    var released = cursor
    var received = 0
    let releaseEvery = UInt64(min(64, max(1, capacity / 4)))
    draining: while received < limit {
      if run == 0 {
        switch peek(cursor) {
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
        release(cursor)
        released = cursor
      }
    }
    runLeft = run
    if cursor != released { release(cursor) }
    return received
  }

  /// Whether every claim was received, whether the ring is open or closed. Consumer.
  @inlinable
  public var isEmpty: Bool { tail << 1 == head << 1 }

  /// Whether an element that was sent by itself was ready at the head a moment ago. Any thread.
  @inlinable
  public var wasReady: Bool { peek(head) != .notReady }

  /// Whether an element is ready to be received. Consumer.
  @inlinable
  public var isReady: Bool { runLeft != 0 || peek(head) != .notReady }

  /// Destroys the elements that were published and not received. Called by the last thread that uses the ring.
  ///
  /// Skips a claim that was never published slot by slot, because the words of its slots say that they hold nothing.
  public func destroyElements<Element: ~Copyable>(of _: Element.Type) {
    var cursor = head
    func destroy(_ count: Int) {
      for _ in 0..<count {
        slots.payload(cursor, as: Element.self).deinitialize(count: 1)
        cursor &+= 1
      }
    }
    destroy(Int(runLeft))
    while cursor << 1 != tail << 1 {
      switch peek(cursor) {
      case .notReady: cursor &+= 1
      case .skip(let count): cursor &+= UInt64(count)
      case .run(let count): destroy(Int(count))
      }
    }
  }
}
