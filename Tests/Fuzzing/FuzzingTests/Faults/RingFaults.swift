import ReactorCore

// Each of them a bug that a ring could have.

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

/// Two elements at once seem not ready: as if the comparison with the cursor were of too few bits.
enum OverlooksALap: RingFault {
  static func peek(_ ring: CRing, _ cursor: UInt64) -> RawSlot {
    cursor & 31 == 31 ? .notReady : ring.peek(cursor)
  }
}
