import ReactorCore

/// A ring with a fault. Each fault is a type of its own, and what it does not define is correct.
protocol RingFault: Sendable {
  static func tryClaim(_ ring: CRing, _ count: Int) -> RawClaim
  static func publish(_ ring: CRing, _ cursor: UInt64, _ count: Int)
  static func abandon(_ ring: CRing, _ cursor: UInt64, _ count: Int)
  static func close(_ ring: CRing)
  static func isIdle(_ ring: CRing) -> Bool
  static func release(_ ring: CRing, _ cursor: UInt64)
  static func peek(_ ring: CRing, _ cursor: UInt64) -> RawSlot
}

extension RingFault {
  static func tryClaim(_ ring: CRing, _ count: Int) -> RawClaim { ring.tryClaim(count) }
  static func publish(_ ring: CRing, _ cursor: UInt64, _ count: Int) { ring.publish(cursor, count: count) }
  static func abandon(_ ring: CRing, _ cursor: UInt64, _ count: Int) { ring.abandon(cursor, count: count) }
  static func close(_ ring: CRing) { ring.close() }
  static func isIdle(_ ring: CRing) -> Bool { ring.isIdle }
  static func release(_ ring: CRing, _ cursor: UInt64) { ring.release(cursor) }
  static func peek(_ ring: CRing, _ cursor: UInt64) -> RawSlot { ring.peek(cursor) }
}

/// The C core with a faulty ring.
enum FaultyCore<Fault: RingFault>: Core {
  typealias Ring = FaultyRing<Fault>
  typealias Lanes = CLanes
  typealias Trampoline = CTrampoline
  typealias EventCount = CEventCount

  static var name: String { "C with a fault" }
  static var threadToken: UInt64 { CCore.threadToken }
  static func pause() { CCore.pause() }
  static var hasFences: Bool { CCore.hasFences }
  static func lightFence() { CCore.lightFence() }
  static func lightFenceAfterExchange() { CCore.lightFenceAfterExchange() }
  static func heavyFence() -> Bool { CCore.heavyFence() }
}

struct FaultyRing<Fault: RingFault>: RawRing {
  private let ring: CRing

  init(capacity: Int, size: Int, alignment: Int, startingAt start: UInt64) throws(CoreError) {
    ring = try CRing(capacity: capacity, size: size, alignment: alignment, startingAt: start)
  }

  init(at address: UnsafeRawPointer) { ring = CRing(at: address) }

  var address: UnsafeRawPointer { ring.address }
  func restart(head: UInt64, tail: UInt64) { ring.restart(head: head, tail: tail) }
  func destroy() { ring.destroy() }
  var capacity: Int { ring.capacity }
  var slots: RawSlots { ring.slots }

  func tryClaim(_ count: Int) -> RawClaim { Fault.tryClaim(ring, count) }
  func publish(_ cursor: UInt64, count: Int) { Fault.publish(ring, cursor, count) }
  func abandon(_ cursor: UInt64, count: Int) { Fault.abandon(ring, cursor, count) }
  func close() { Fault.close(ring) }
  var isClosed: Bool { ring.isClosed }
  var tail: UInt64 { ring.tail }
  var wasCount: Int { ring.wasCount }

  var head: UInt64 { ring.head }
  var runLeft: UInt32 {
    get { ring.runLeft }
    nonmutating set { ring.runLeft = newValue }
  }
  var isIdle: Bool { Fault.isIdle(ring) }
  func peek(_ cursor: UInt64) -> RawSlot { Fault.peek(ring, cursor) }
  func release(_ cursor: UInt64) { Fault.release(ring, cursor) }
}

// Each fault is a bug that a ring could have.

enum SaysFullTooEarly: RingFault {
  static func tryClaim(_ ring: CRing, _ count: Int) -> RawClaim {
    ring.capacity > 1 && ring.wasCount + count == ring.capacity ? .full : ring.tryClaim(count)
  }
}

enum ForgetsThatItIsClosed: RingFault {
  static func close(_ ring: CRing) {}
}

enum SaysFullWhereClosed: RingFault {
  static func tryClaim(_ ring: CRing, _ count: Int) -> RawClaim {
    let claim = ring.tryClaim(count)
    return claim == .closed ? .full : claim
  }
}

enum AcceptsEmptyClaims: RingFault {
  static func tryClaim(_ ring: CRing, _ count: Int) -> RawClaim {
    count == 0 ? .claimed(ring.tail) : ring.tryClaim(count)
  }
}

enum LosesTheEndOfABatch: RingFault {
  static func publish(_ ring: CRing, _ cursor: UInt64, _ count: Int) {
    ring.publish(cursor, count: max(1, count - 1))
  }
}

enum LosesWhatIsPublished: RingFault {
  static func publish(_ ring: CRing, _ cursor: UInt64, _ count: Int) { ring.abandon(cursor, count: count) }
}

enum ForgetsWhatIsAbandoned: RingFault {
  static func abandon(_ ring: CRing, _ cursor: UInt64, _ count: Int) {}
}

enum KeepsASlot: RingFault {
  static func release(_ ring: CRing, _ cursor: UInt64) { ring.release(cursor &- 1) }
}

enum NeverReleases: RingFault {
  static func release(_ ring: CRing, _ cursor: UInt64) {}
}

enum IsIdleWhileClosed: RingFault {
  static func isIdle(_ ring: CRing) -> Bool { ring.wasCount == 0 }
}

/// Two elements at once seem not to be ready, as if too few bits of the cursor were compared.
enum OverlooksALap: RingFault {
  static func peek(_ ring: CRing, _ cursor: UInt64) -> RawSlot {
    cursor & 31 == 31 ? .notReady : ring.peek(cursor)
  }
}
