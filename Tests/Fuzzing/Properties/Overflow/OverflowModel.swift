import ReactorRuntime

/// A plain mailbox: one list of the actions that wait, in the order in which they were sent.
struct OverflowModel {
  /// Where an action waits, which decides only the limit that it counts against.
  enum Place {
    case ring
    /// Sent while the ring was full.
    case besideTheRing
    /// Sent by the owner to itself, or taken over by it.
    case atTheOwner
  }

  struct Waiting {
    let id: Int
    var place: Place
    /// A newer action has taken its place: it is dropped when its turn comes.
    var isPushedOut = false
  }

  enum Sender { case outside, turnOfAnother, ownTurn }

  /// The required outcome of a send.
  struct Expectation {
    var refusal: SendError?
    /// The action that is dropped at once to make room.
    var dropped: Int?
  }

  let policy: OverflowPolicy
  let capacity: Int
  let reentrantCapacity: Int
  private(set) var waiting: [Waiting] = []
  private(set) var closing: Closing?
  private(set) var state = Digest()
  private(set) var droppedCount = 0

  init(_ overflowCase: OverflowCase) {
    policy = overflowCase.policy
    capacity = overflowCase.capacity
    reentrantCapacity = overflowCase.reentrantCapacity
  }

  func count(_ place: Place) -> Int { waiting.count { $0.place == place } }

  // MARK: Senders

  mutating func send(_ id: Int, _ way: SendWay, by sender: Sender) -> Expectation {
    if sender == .ownTurn { return sendToItself(id) }
    if closing != nil { return Expectation(refusal: .closed) }
    if count(.ring) < capacity { return accept(id, .ring) }
    switch (way, policy) {
    case (.trySend, _): return Expectation(refusal: .full)
    case (.send, .fail): return Expectation(refusal: .full)
    case (.send, .dropNewest):
      droppedCount += 1
      return Expectation(refusal: .dropped)
    case (.send, .dropOldest): return pushOut(for: id)
    case (.send, .block), (.sendBeforeNow, _):
      if sender == .outside { return Expectation(refusal: .timedOut) }
      if count(.besideTheRing) >= reentrantCapacity { return Expectation(refusal: .reentrantOverflow) }
      return accept(id, .besideTheRing)
    }
  }

  private mutating func sendToItself(_ id: Int) -> Expectation {
    // A reactor that is closing can still send to itself.
    if closing == .discard { return Expectation(refusal: .closed) }
    takeOver()
    if count(.atTheOwner) >= reentrantCapacity { return Expectation(refusal: .reentrantOverflow) }
    return accept(id, .atTheOwner)
  }

  private mutating func accept(_ id: Int, _ place: Place) -> Expectation {
    waiting.append(Waiting(id: id, place: place))
    return Expectation()
  }

  private mutating func pushOut(for id: Int) -> Expectation {
    var expectation = Expectation()
    if let index = waiting.firstIndex(where: { $0.place == .ring && !$0.isPushedOut }) {
      waiting[index].isPushedOut = true
    } else if let index = waiting.firstIndex(where: { $0.place == .besideTheRing }) {
      expectation.dropped = waiting.remove(at: index).id
      droppedCount += 1
    }
    waiting.append(Waiting(id: id, place: .besideTheRing))
    return expectation
  }

  mutating func close(_ closing: Closing) {
    if self.closing != .discard { self.closing = closing }
  }

  // MARK: The owner

  /// The owner takes over what is kept beside the ring at the beginning of its next turn.
  mutating func takeOver() {
    for index in waiting.indices where waiting[index].place == .besideTheRing {
      waiting[index].place = .atTheOwner
    }
  }

  /// Processes the next action, and returns which one that must be.
  mutating func process() -> Int? {
    guard let first = waiting.first, !first.isPushedOut, closing != .discard else { return nil }
    state.append(first.id)
    return waiting.removeFirst().id
  }

  /// Drops the next action, and returns which one that must be, and the reason.
  mutating func passOver() -> (id: Int, reason: SendError)? {
    guard let first = waiting.first, first.isPushedOut || closing == .discard else { return nil }
    if first.isPushedOut { droppedCount += 1 }
    return (waiting.removeFirst().id, first.isPushedOut ? .dropped : .closed)
  }
}
