import ReactorRuntime

/// A plain mailbox: one list of the actions that wait, in the order in which they were sent.
struct OverflowModel {
  /// Where an action waits, which decides whether a newer one can push it out.
  enum Place {
    case ring
    /// It came while the ring was full.
    case besideTheRing
    /// The same, and everything beside the ring that can be pushed out is newer.
    case besideAndOlder
    /// The owner sent it to itself, or has taken it over.
    case atTheOwner
  }

  /// Which thread sent what is not in the ring: that decides the limit that it counts against.
  enum Origin { case owner, otherTurn, pushing }

  struct Waiting {
    let id: Int
    var place: Place
    let origin: Origin?
    /// A newer action has taken its place: it is dropped when its turn comes.
    var isPushedOut = false

    var canBePushedOut: Bool {
      switch place {
      case .ring: !isPushedOut
      case .besideTheRing: origin == .pushing
      case .besideAndOlder, .atTheOwner: false
      }
    }
  }

  enum Sender { case outside, turnOfAnother, ownTurn }

  /// The required outcome of a send.
  struct Expectation {
    var refusal: SendError?
    /// The actions that are dropped at once to make room.
    var dropped: [Int] = []
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

  private func count(_ place: Place) -> Int { waiting.count { $0.place == place } }

  private func count(_ origin: Origin) -> Int { waiting.count { $0.origin == origin } }

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
      if count(.otherTurn) >= reentrantCapacity { return Expectation(refusal: .reentrantOverflow) }
      return accept(id, .besideTheRing, from: .otherTurn)
    }
  }

  private mutating func sendToItself(_ id: Int) -> Expectation {
    // A reactor that is closing can still send to itself.
    if closing == .discard { return Expectation(refusal: .closed) }
    if count(.owner) >= reentrantCapacity { return Expectation(refusal: .reentrantOverflow) }
    // Behind what has spilled.
    let hasSpilled = count(.besideTheRing) + count(.besideAndOlder) > 0
    return accept(id, hasSpilled ? .besideTheRing : .atTheOwner, from: .owner)
  }

  private mutating func accept(_ id: Int, _ place: Place, from origin: Origin? = nil) -> Expectation {
    waiting.append(Waiting(id: id, place: place, origin: origin))
    return Expectation()
  }

  /// The oldest give way, until no more are left than fit, the new one included.
  private mutating func pushOut(for id: Int) -> Expectation {
    var expectation = Expectation()
    while waiting.count(where: \.canBePushedOut) >= capacity {
      passWhatIsKept()
      guard let index = waiting.firstIndex(where: \.canBePushedOut) else { break }
      if waiting[index].place == .ring {
        waiting[index].isPushedOut = true
      } else {
        expectation.dropped.append(waiting.remove(at: index).id)
        droppedCount += 1
      }
    }
    waiting.append(Waiting(id: id, place: .besideTheRing, origin: .pushing))
    return expectation
  }

  /// What is kept and comes before everything beside the ring that can be pushed out does not wait for that any more.
  private mutating func passWhatIsKept() {
    guard let first = waiting.firstIndex(where: { $0.place == .besideTheRing && $0.canBePushedOut }) else {
      return
    }
    for index in 0..<first where waiting[index].place == .besideTheRing {
      waiting[index].place = .besideAndOlder
    }
  }

  mutating func close(_ closing: Closing) {
    if self.closing != .discard { self.closing = closing }
  }

  // MARK: The owner

  /// The owner takes over what is kept beside the ring when it has nothing left.
  mutating func takeOver() {
    if count(.atTheOwner) > 0 { return }
    let place = count(.besideAndOlder) > 0 ? Place.besideAndOlder : .besideTheRing
    for index in waiting.indices where waiting[index].place == place { waiting[index].place = .atTheOwner }
  }

  /// Processes the next action, and returns which one that must be.
  mutating func process() -> Int? {
    takeOver()
    guard let first = waiting.first, !first.isPushedOut, closing != .discard else { return nil }
    state.append(first.id)
    return waiting.removeFirst().id
  }

  /// Drops the next action, and returns which one that must be, and the reason.
  mutating func passOver() -> (id: Int, reason: SendError)? {
    takeOver()
    guard let first = waiting.first, first.isPushedOut || closing == .discard else { return nil }
    if first.isPushedOut { droppedCount += 1 }
    return (waiting.removeFirst().id, first.isPushedOut ? .dropped : .closed)
  }
}
