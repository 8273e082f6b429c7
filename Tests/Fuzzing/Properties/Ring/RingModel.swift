import ReactorCore

/// A plain ring: an array of the slots from the consumer's cursor on.
struct RingModel {
  enum Slot: Equatable {
    case claimed
    /// Whether it is the first element of a run. Only that one has a word in its slot.
    case element(Int, isFirst: Bool)
    case abandoned(isFirst: Bool)
  }

  struct Claim: Equatable {
    let position: Int
    let count: Int
  }

  let capacity: Int
  let start: UInt64
  private(set) var slots: [Slot] = []
  private(set) var isClosed = false
  /// How many slots were taken before these.
  private(set) var head = 0
  /// How many of these were released to the producers.
  private(set) var released = 0

  init(capacity: Int, start: UInt64) {
    self.capacity = capacity
    self.start = start
  }

  var tail: Int { head + slots.count }
  var elementCount: Int { slots.count { if case .element = $0 { true } else { false } } }

  /// Cursors have 63 bits.
  func cursor(_ position: Int) -> UInt64 { (start &+ UInt64(position)) & (UInt64.max >> 1) }

  // MARK: Producers

  mutating func claim(_ count: Int) -> RawClaim {
    if count < 1 || count > capacity { return .invalidCount }
    if isClosed { return .closed }
    if tail + count - released > capacity { return .full }
    defer { slots += Array(repeating: .claimed, count: count) }
    return .claimed(cursor(tail))
  }

  mutating func publish(_ claim: Claim, _ values: [Int]) {
    for (index, value) in values.enumerated() {
      slots[claim.position - head + index] = .element(value, isFirst: index == 0)
    }
  }

  mutating func abandon(_ claim: Claim) {
    for index in 0..<claim.count { slots[claim.position - head + index] = .abandoned(isFirst: index == 0) }
  }

  mutating func close() { isClosed = true }

  // MARK: The consumer

  /// Returns the next element and its cursor, or nil if it is not published yet.
  mutating func receive() -> (value: Int, cursor: UInt64)? {
    passAbandoned()
    guard case .element(let value, _)? = slots.first else { return nil }
    defer { pass() }
    return (value, cursor(head))
  }

  /// To be called in the middle of a drain, after each element.
  mutating func releaseIfDue() {
    if head - released >= max(1, capacity / 4) { released = head }
  }

  /// - Parameter isCutShort: Whether the drain ended at its limit.
  mutating func endDrain(isCutShort: Bool) {
    if !isCutShort { passAbandoned() }
    released = head
  }

  private mutating func passAbandoned() {
    while case .abandoned? = slots.first { pass() }
  }

  private mutating func pass() {
    slots.removeFirst()
    head += 1
  }

  /// Whether an element can be received.
  var isReady: Bool { slots.first.map { $0 != .claimed } ?? false }

  /// Whether the word of the slot at the front says that it is published.
  var isReadyByItsWord: Bool {
    switch slots.first {
    case .element(_, let isFirst)?, .abandoned(let isFirst)?: isFirst
    case .claimed?, nil: false
    }
  }
}
