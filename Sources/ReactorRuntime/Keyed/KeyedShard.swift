import ReactorCore

/// A part of the keys of ``KeyedReactors``: a hash table with linear probing, at most three quarters full.
///
/// A plain value, used under a mutex of its ``KeyedReactors``. Of the user's code, only `==` and `hash(into:)` of the key
/// run here. Whatever may run other code when it is destroyed, such as a key, an action or a reactor, is returned, and destroyed outside
/// of the mutex.
///
/// ```
///   no slot ── insert ──▶ in transition ── activate ──▶ active
///      ▲                   ▲         │                    │
///      │                   └─────────┼─── beginEnding ────┘
///      └──────── remove ─────────────┘
/// ```
///
/// - **active**: the slot holds the reactor. Senders take a reference and use that outside of the mutex.
/// - **in transition**: one thread makes the reactor, or ends it and then makes the next one. What is sent meanwhile is
///   kept in the ``Transition``, in order.
@usableFromInline
struct KeyedShard<Key: Hashable & Sendable, R: Reactor>: Sendable {
  @usableFromInline
  struct Slot: Sendable {
    @usableFromInline let key: Key
    /// The lower half of the key's hash. Its upper bits choose the shard.
    @usableFromInline let hash: UInt32
    @usableFromInline var lastUse: UInt32
    /// Nil while the key is in transition.
    @usableFromInline var reactor: R?

    @inlinable
    init(key: Key, hash: UInt32, lastUse: UInt32) {
      self.key = key
      self.hash = hash
      self.lastUse = lastUse
    }

    /// Whether nothing but this refers to the reactor. Then nobody can use it: a new reference comes from here.
    @inlinable
    mutating func isUnused() -> Bool { isKnownUniquelyReferenced(&reactor) }
  }

  /// What waits until the key has a reactor.
  @usableFromInline
  enum Waiting: Sendable {
    case action(R.Action)
    /// An action whose sender waits until the reactor has it, and may give up before.
    case request(R.Action, KeyedWait<R>)
    case use(KeyedWait<R>)
    /// The key was removed after what waits before this, so what follows is for another reactor.
    case removal

    @inlinable
    var isRemoval: Bool { if case .removal = self { true } else { false } }

    @inlinable
    var action: R.Action? {
      switch self {
      case .action(let action), .request(let action, _): action
      case .use, .removal: nil
      }
    }

    @inlinable
    var wait: KeyedWait<R>? {
      switch self {
      case .request(_, let wait), .use(let wait): wait
      case .action, .removal: nil
      }
    }
  }

  @usableFromInline
  struct Transition: Sendable {
    /// The reactor that ends, or the one that was just made: for readers.
    @usableFromInline var reactor: R?
    @usableFromInline var waiting: [Waiting]
    /// Whether the reactor was removed, so that its state is not kept.
    @usableFromInline var isRemoved: Bool
    /// Whether `onRemove` was called, or is about to be.
    @usableFromInline var isRemovalTold = false
    /// Whether the reactor that was made has got something.
    @usableFromInline var hasDelivered = false
    /// The token of the thread that is inside of `make`, `onPassivate` or `onRemove` for this key, or delivers what waits, or tells
    /// that it was refused; 0 if there is none. All of that runs the user's code, which must not wait for the end of this key.
    @usableFromInline var thread: UInt64
    /// Whether the senders of what waited are being told that it was discarded. After that the key is gone.
    @usableFromInline var isDiscarding = false
    /// Whether `reactor` ends, or is about to.
    @usableFromInline var isEnding = false

    @inlinable
    init(
      reactor: R?, waiting: [Waiting] = [], isRemoved: Bool = false, isEnding: Bool = false,
      thread: UInt64 = 0
    ) {
      self.reactor = reactor
      self.waiting = waiting
      self.isRemoved = isRemoved
      self.isEnding = isEnding
      self.thread = thread
    }

    /// The key was removed once more. Returns whether there is no reactor, or it has ended, and none will be made: the removal is only
    /// told.
    @inlinable
    mutating func noteRemoval() -> Bool {
      if waiting.last?.isRemoval != true { waiting.append(.removal) }
      return (isRemovalTold || isDiscarding) && waiting.allSatisfy(\.isRemoval)
    }
  }

  @usableFromInline var slots: ContiguousArray<Slot?> = [nil]
  @usableFromInline var count = 0
  /// Each key is the very instance of its slot, so only ``removeSlot(of:_:)`` can release the last reference to it.
  @usableFromInline var transitions: [Key: Transition] = [:]
  /// How all of them were closed; nil while they are open.
  @usableFromInline var closing: Closing?
  @usableFromInline var tally = KeyedCounters()
  /// Where the search for the least recently used key continues.
  @usableFromInline var hand = 0

  @inlinable
  init() {}

  // MARK: The table

  /// The slot of a key, or the empty one where it would be. O(1) on average.
  @inlinable
  @inline(__always)
  func position(of key: Key, _ hash: UInt32) -> Int {
    var index = Int(hash) & (slots.count - 1)
    while let slot = slots[index], slot.hash != hash || slot.key != key { index = next(index) }
    return index
  }

  @inlinable
  @inline(__always)
  func next(_ index: Int) -> Int { (index + 1) & (slots.count - 1) }

  /// Returns the reactor of a key that is active, and notes its use.
  @inlinable
  @inline(__always)
  mutating func use(_ key: Key, _ hash: UInt32, at now: UInt32) -> R? {
    let index = position(of: key, hash)
    guard let slot = slots[index], let reactor = slot.reactor else { return nil }
    // Usually it is the same, and then the line stays shared.
    if slot.lastUse != now { slots[index]?.lastUse = now }
    return reactor
  }

  /// Adds a key that has no slot: it is in transition, and the calling thread makes its reactor. Amortized O(1).
  @inlinable
  mutating func insert(_ key: Key, _ hash: UInt32, at now: UInt32, waiting: [Waiting]) {
    // It would never be found again.
    guard key == key else {
      fatalError(
        """
        Problem: a key of KeyedReactors is not equal to itself: \(key).
        Likely cause: it contains a floating-point number that is not a number (NaN).
        Remedy: check such numbers before they become a key.
        """)
    }
    if (count + 1) * 4 > slots.count * 3 { resize(to: max(4, slots.count * 2)) }
    slots[position(of: key, hash)] = Slot(key: key, hash: hash, lastUse: now)
    transitions[key] = Transition(reactor: nil, waiting: waiting, thread: CurrentCore.threadToken)
    count += 1
  }

  @inlinable
  mutating func resize(to capacity: Int) {
    var old = ContiguousArray<Slot?>(repeating: nil, count: capacity)
    swap(&old, &slots)
    for case let slot? in old {
      var index = Int(slot.hash) & (capacity - 1)
      while slots[index] != nil { index = next(index) }
      slots[index] = slot
    }
  }

  /// Removes a key that is in transition, and for which nothing waits.
  ///
  /// - Returns: The key of the slot, to be destroyed outside of the mutex.
  @inlinable
  mutating func removeSlot(of key: Key, _ hash: UInt32) -> Key? {
    transitions[key] = nil
    forgetTransitionsIfNone()
    let index = position(of: key, hash)
    let removed = slots[index]?.key
    slots.emptyProbed(index) { Int($0.hash) }
    count -= 1
    if slots.count > 4, count * 8 < slots.count { resize(to: slots.count / 2) }
    return removed
  }

  // MARK: Transitions

  /// Takes what a task that has given up waits for out of what waits. O(number of what waits).
  ///
  /// - Returns: It, to be destroyed outside of the mutex: what an action holds may use the collection at its end.
  mutating func takeOut(_ wait: KeyedWait<R>, for key: Key) -> Waiting? {
    guard let index = transitions[key]?.waiting.firstIndex(where: { $0.wait === wait }) else { return nil }
    return transitions[key]?.waiting.remove(at: index)
  }

  @usableFromInline
  enum Admission {
    case active(R)
    /// It waits for the thread that makes or ends the reactor.
    case kept
    /// It waits, and the calling thread ends this reactor, which was closed.
    case replaces(R)
    /// The calling thread makes the reactor.
    case first
    case refused(SendError)
  }

  /// Returns the reactor of the key; if there is none, keeps what waits for it.
  ///
  /// - Parameter closed: A reactor that the caller has found closed. If it still is that of the key, the caller ends it. The caller checks
  ///   that outside of the mutex: the property `runtime` may run the program's code.
  @inlinable
  mutating func admit(
    _ waiting: Waiting, _ key: Key, _ hash: UInt32, at now: UInt32, upTo capacity: Int, replacing closed: R?
  ) -> Admission {
    if let reactor = use(key, hash, at: now) {
      if reactor !== closed { return .active(reactor) }
      beginEnding(at: position(of: key, hash))
      transitions[key]?.waiting.append(waiting)
      return .replaces(reactor)
    }
    if closing != nil { return .refused(.closed) }
    if let count = transitions[key]?.waiting.count {
      if count >= capacity { return .refused(.full) }
      transitions[key]?.waiting.append(waiting)
      slots[position(of: key, hash)]?.lastUse = now
      return .kept
    }
    insert(key, hash, at: now, waiting: [waiting])
    return .first
  }

  /// Makes an active key end; returns its reactor. Returns nil if the key is not active.
  @inlinable
  @discardableResult
  mutating func beginEnding(at index: Int, isRemoved: Bool = false) -> R? {
    guard let slot = slots[index], let reactor = slot.reactor else { return nil }
    slots[index]?.reactor = nil
    transitions[slot.key] = Transition(reactor: reactor, isRemoved: isRemoved, isEnding: true)
    return reactor
  }

  @usableFromInline
  enum Removal {
    /// There is no reactor.
    case none
    /// There is none, and the key is in transition: the calling thread tells that it was removed.
    case tell
    case end(R)
    /// It is removed later.
    ///
    /// - Parameter ending: The reactor that is there, if it ends already.
    case afterTransition(hasReactor: Bool, ending: R?)
  }

  /// Removes the reactor of a key; also the one that is made for what waits.
  ///
  /// - Parameter isTold: Whether each removal is told to the user, also of a key that has no reactor.
  @inlinable
  mutating func remove(_ key: Key, _ hash: UInt32, at now: UInt32, isTold: Bool) -> Removal {
    if let reactor = beginEnding(at: position(of: key, hash), isRemoved: true) { return .end(reactor) }
    // In place: with a second reference to what waits, adding to it would copy all of it.
    guard let isOnlyTold = transitions[key]?.noteRemoval() else {
      if !isTold || closing != nil { return .none }
      insert(key, hash, at: now, waiting: [])
      transitions[key]?.isRemovalTold = true
      return .tell
    }
    let ending = transitions[key].flatMap { $0.isEnding ? $0.reactor : nil }
    return .afterTransition(hasReactor: !isOnlyTold, ending: ending)
  }

  /// Gives the memory back that the transitions of many keys at once have taken.
  @inlinable
  mutating func forgetTransitionsIfNone() {
    if transitions.isEmpty, transitions.capacity > 64 { transitions = [:] }
  }

  /// Decides whether the state of a reactor that has ended is kept, by the calling thread. If its key was removed meanwhile, notes
  /// that it counts as removed.
  @inlinable
  mutating func beginKeepingState(of key: Key) -> Bool {
    guard let transition = transitions[key] else { return false }
    if transition.isRemoved { return false }
    // It was removed while it ended. A removal that comes later finds that the state is being kept.
    if transition.waiting.first?.isRemoval == true {
      transitions[key]?.isRemoved = true
      return false
    }
    transitions[key]?.thread = CurrentCore.threadToken
    return true
  }

  /// Removes a key whose reactor has ended, or that had none, unless something waits for the next one, which the calling thread makes
  /// then. But first it tells that the key was removed, if it was.
  ///
  /// - Parameter isTold: Whether removals are told to the user.
  @inlinable
  mutating func removeOrMake(_ key: Key, _ hash: UInt32, isTold: Bool) -> Next {
    guard let transition = transitions[key] else { return .done }
    // With `.discard` no reactor is made for what waits before a removal. So that is told now: the state before it was kept.
    let isRemoved =
      transition.isRemoved || transition.waiting.first?.isRemoval == true
      || (closing == .discard && transition.waiting.contains { $0.isRemoval })
    if isTold, isRemoved, !transition.isRemovalTold {
      transitions[key]?.isRemovalTold = true
      transitions[key]?.thread = CurrentCore.threadToken
      return .tellRemoval
    }
    if transition.reactor != nil {
      if transition.isRemoved { tally.removed += 1 } else { tally.passivated += 1 }
    }
    let waiting = transition.waiting.drop { $0.isRemoval }
    if !waiting.isEmpty, closing != .discard {
      transitions[key] = Transition(
        reactor: nil, waiting: Array(waiting), thread: CurrentCore.threadToken)
      return .make
    }
    if waiting.isEmpty {
      return .removed(removeSlot(of: key, hash))
    }
    // In transition until the senders were told. The calling thread runs the user's code for that, which may wait for the end of all
    // keys, and must find that it is needed for this one.
    transitions[key] = Transition(reactor: nil, thread: CurrentCore.threadToken)
    transitions[key]?.isDiscarding = true
    return .discard(Array(waiting))
  }

  /// Refuses further keys and actions; makes all active keys end, and returns the reactors that must be closed.
  @inlinable
  mutating func close(_ closing: Closing) -> [(key: Key, reactor: R, isActive: Bool)] {
    var ending: [(key: Key, reactor: R, isActive: Bool)] = []
    if self.closing != .discard { self.closing = closing }
    for (key, transition) in transitions {
      if let reactor = transition.reactor { ending.append((key, reactor, false)) }
    }
    for index in slots.indices {
      if let key = slots[index]?.key, let reactor = beginEnding(at: index) {
        ending.append((key, reactor, true))
      }
    }
    return ending
  }
}
