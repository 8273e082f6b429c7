/// A replayed state: instead of copying the published state to another slot, the owner brings a state up to date that readers
/// have left.
///
/// ```
///   slot 2   ── a b c ─────────────────▶ published         the owner changes slot 3 by d, and logs d
///   slot 3   ── a b ──▶ + c ── d ──▶ the owner's changes   once published, slot 2 lacks d
/// ```
///
/// Words, pins and publication are those of every state with slots; see `rr_trampoline.h`. What differs is where the owner's
/// first change of a turn finds a state to change. It takes the newest of the earlier states that no reader pins, and applies to it
/// what it has missed, from the ``ReplayLog``. So each mutation is applied once to each of the states, two of them as long as
/// readers leave soon, whatever their size.
///
/// If readers pin the newest earlier state, an older one serves as well. That costs what it has missed, so before it the owner waits
/// for the readers of the newest one: as long as that would cost, but at most about 20 µs and a membarrier.
///
/// Only if no earlier state can be brought up to date does the owner copy: the first time; when readers have stayed in all of them;
/// or when they have stayed so long that the log no longer reaches back, which then would have taken longer than the copy. Before
/// that it waits in the same way. So a reader that waits for the owner does not stop it, and neither does one that the system has
/// suspended: as many states as readers stay in, and two more, are enough, and are copied once.
///
/// A state that the copy was made of shares with it what a change has not touched yet. A change of such a part copies that part,
/// once.
extension OwnedState {
  /// Changes the state by a mutation, which `apply` also applies to earlier states later: it must be a function of its arguments.
  /// The owner, but not inside of another change.
  ///
  /// Inlined, so that `apply` is, into the one function of each type of reactor that calls this. What is rarely needed is not.
  ///
  /// - Parameters:
  ///   - mutation: Of the type that the state was created with. It is kept until it was applied to each state that can be
  ///     brought up to date.
  ///   - verify: Called with an earlier state that was brought up to date, and the published one; both should be equal.
  ///   - apply: Applies a mutation to a state.
  /// - Complexity: Those of one call of `apply` for each state. A copy of the state where that is not possible.
  @unsafe
  @inlinable
  @inline(__always)
  public func change<Mutation: Sendable>(
    byReplaying mutation: Mutation, verify: ((State, State) -> Void)? = nil,
    _ apply: (inout State, Mutation) -> Void
  ) {
    assert(isOwner, "only the owner may change the state")
    let (owner, log) = (owner, log)
    var beginningOfCopy: Int64?
    // Until the end: states and mutations that are destroyed here may cause other changes, which must wait.
    slots.pointee.change = .byValue
    defer { slots.pointee.change = .none }
    if owner.pointee.isPublished {
      let slots = slots
      let spare = Int(slots.pointee.spare)
      // A state in the private slot that could not be published moves to another one, so this is where it is now.
      log.pointee.positions[Int(slots.pointee.published)] = log.pointee.end
      var slot = spare
      if !slots.pointee.isAlternating || !raw.isFree(slot: spare)
        || log.pointee.positions[spare] < log.pointee.start
      {
        slot = earlierSlot()
      }
      if slot >= 0 {
        move(toEarlier: slot)
        replay(Mutation.self, from: log.pointee.positions[slot], apply)
        verify?(
          owner.pointee.place.state(State.self).pointee, slots.pointee.sparePlace.state(State.self).pointee)
        removeWhatIsNotMissed(Mutation.self)
      } else {
        beginningOfCopy = beginCopy()
      }
    }
    slots.pointee.change = .inPlace
    apply(&owner.pointee.place.state(State.self).pointee, mutation)
    slots.pointee.change = .byValue
    // After the mutation, which copies the collections that it is the first to change.
    if let beginningOfCopy { log.pointee.noteCopy(since: beginningOfCopy) }
    if log.pointee.count == log.pointee.capacity { makeRoom(Mutation.self) }
    log.pointee.append(mutation)
  }

  /// To be called before a change that is no mutation. No earlier state can be brought up to date then, so the next turn copies.
  /// The owner.
  @unsafe
  public func forgetMutations() {
    if form != .replayed { return }
    // Otherwise the next change would keep the states that are lost now.
    slots.pointee.isAlternating = false
    slots.pointee.change = .byValue
    ReplayLog.forgetAll(in: log)
    slots.pointee.change = .none
  }

  /// How often the state was copied. With one place: how many copies ``read(thenCheck:)`` has returned to threads other than the
  /// owner; the next change after one copies what both share. If it is replayed: how often its owner had to. Otherwise zero. Any
  /// thread.
  public var wasCopiedCount: Int {
    switch form {
    case .slots: 0
    case .onePlace: raw.wasCopied
    case .replayed: log.pointee.copies.load(ordering: .relaxed)
    }
  }

  /// The slot of the first state. A replayed state is for readers, which must not read in the line of the owner's fields.
  var firstSlot: UInt8 { form == .replayed ? 2 : 0 }

  @inlinable
  @inline(__always)
  var log: UnsafeMutablePointer<ReplayLog> { StatePlaces<State>.log(in: raw.memory).pointee }

  // MARK: Earlier states

  /// Makes the slot of an earlier state the current one. That of the published state is then the spare one.
  @inlinable
  @inline(__always)
  func move(toEarlier slot: Int) {
    let (owner, slots) = (owner, slots)
    let place = slot == Int(slots.pointee.spare) ? slots.pointee.sparePlace : place(of: slot).raw
    slots.pointee.spare = slots.pointee.published
    slots.pointee.sparePlace = owner.pointee.place
    slots.pointee.isAlternating = true
    slots.pointee.current = UInt8(truncatingIfNeeded: slot)
    owner.pointee.place = place
    owner.pointee.isPublished = false
  }

  /// Applies to the current state the mutations from a position on. Inside of a change, which goes on.
  @inlinable
  @inline(__always)
  func replay<Mutation>(
    _: Mutation.Type, from position: Int, _ apply: (inout State, Mutation) -> Void
  ) {
    let (owner, log) = (owner, log)
    let place = owner.pointee.place.state(State.self)
    let (count, end) = (log.pointee.end &- position, log.pointee.end)
    let beginning = count < ReplayLog.countWorthTiming ? 0 : MonotonicTime.now
    // As inside of any change: code that reads the state now sees the published one.
    slots.pointee.change = .inPlace
    var position = position
    while position < end {
      apply(&place.pointee, log.pointee.entry(at: position, of: Mutation.self).pointee)
      position &+= 1
    }
    slots.pointee.change = .byValue
    if count >= ReplayLog.countWorthTiming { log.pointee.noteReplay(of: count, since: beginning) }
  }

  /// Moves to another slot by a copy, and returns when that began.
  @usableFromInline
  @inline(never)
  func beginCopy() -> Int64 {
    let beginning = MonotonicTime.now
    copyToFreeSlot()
    slots.pointee.isAlternating = true
    return beginning
  }

  /// The slot of the newest earlier state that can be brought up to date, or -1.
  ///
  /// - Parameter ifFree: Whether to pass over states that a reader pins.
  private func newestEarlierSlot(ifFree: Bool) -> Int {
    let (slots, log) = (slots, log)
    var (newest, position) = (-1, log.pointee.start - 1)
    var left = slots.pointee.initialized & 0xFF & ~(1 << UInt16(slots.pointee.published))
    while left != 0 {
      let slot = left.trailingZeroBitCount
      left &= left - 1
      if log.pointee.positions[slot] <= position || ifFree && !raw.isFree(slot: slot) { continue }
      (newest, position) = (slot, log.pointee.positions[slot])
    }
    return newest
  }

  /// Returns the slot of the earlier state to continue in, or -1 to copy. Waits for readers to leave a newer one if that is likely
  /// to be worth it.
  @usableFromInline
  @inline(never)
  func earlierSlot() -> Int {
    let newest = newestEarlierSlot(ifFree: false)
    if newest < 0 { return newest }
    let beginning = MonotonicTime.now
    var hasRevoked = false
    while true {
      let free = newestEarlierSlot(ifFree: true)
      if free == newest { return free }
      let waited = MonotonicTime.now - beginning
      let limit = (free < 0 ? log.pointee.copyDuration : durationToUpdate(free)) - durationToUpdate(newest)
      if waited >= limit { return free }
      if waited < 2_000 {
        CurrentCore.pause()
      } else if limit <= 20_000 {
        // A reader that is running has left by now, unless it stays for long.
        return free
      } else if !hasRevoked {
        // Threads that keep the pins of their last reads may not come back. It takes 10 µs, so not for a small state.
        hasRevoked = true
        _ = raw.revokeKeptPins()
      } else if waited < 20_000 {
        CurrentCore.pause()
      } else {
        return free
      }
    }
  }

  private func durationToUpdate(_ slot: Int) -> Int64 {
    log.pointee.duration(of: log.pointee.end - log.pointee.positions[slot])
  }

  // MARK: What is not needed any more

  /// Removes the mutations that no state lacks any more, and the states that are lost. The owner, right after a replay.
  @inlinable
  @inline(__always)
  func removeWhatIsNotMissed<Mutation>(_: Mutation.Type) {
    let (slots, log) = (slots, log)
    let two: UInt16 = 1 &<< UInt16(slots.pointee.current) | 1 &<< UInt16(slots.pointee.published)
    if slots.pointee.initialized == two, log.pointee.capacity <= ReplayLog.leastBound {
      ReplayLog.discard(before: log.pointee.end, in: log, of: Mutation.self)
    } else if !_isPOD(Mutation.self) || log.pointee.end &- log.pointee.trimmed >= ReplayLog.countWorthTiming {
      trimLog(Mutation.self)
    }
  }

  /// The same while there are other states.
  @usableFromInline
  @inline(never)
  func trimLog<Mutation>(_: Mutation.Type) {
    let (slots, log) = (slots, log)
    log.pointee.trimmed = log.pointee.end
    ReplayLog.discard(before: oldestPosition, in: log, of: Mutation.self)
    log.pointee.shrinkIfSparse(Mutation.self)
    for slot in 0...Int(privateSlot) {
      let bit: UInt16 = 1 << UInt16(slot)
      if slots.pointee.initialized & bit == 0 || slot == slots.pointee.current
        || slot == slots.pointee.published
      {
        continue
      }
      // What has remained in the private slot is never changed again.
      if slot != privateSlot, log.pointee.positions[slot] >= log.pointee.start || !raw.isFree(slot: slot) {
        continue
      }
      slots.pointee.initialized &= ~bit
      _ = place(of: slot).move()
    }
  }

  /// The position of the oldest state that can be brought up to date: what came before it is not needed.
  private var oldestPosition: Int {
    let (slots, log) = (slots, log)
    var oldest = log.pointee.end
    for slot in 0..<Int(privateSlot) where slot != slots.pointee.current {
      let position = log.pointee.positions[slot]
      if slots.pointee.initialized & 1 << UInt16(slot) != 0, position >= log.pointee.start {
        oldest = min(oldest, position)
      }
    }
    return oldest
  }

  /// Makes room for a mutation, if need be by losing the oldest state. The owner, after a change.
  @usableFromInline
  @inline(never)
  func makeRoom<Mutation>(_: Mutation.Type) {
    let log = log
    ReplayLog.discard(before: oldestPosition, in: log, of: Mutation.self)
    if log.pointee.count < log.pointee.capacity || log.pointee.tryGrow(Mutation.self) { return }
    ReplayLog.discard(before: log.pointee.start + 1, in: log, of: Mutation.self)
    ReplayLog.discard(before: oldestPosition, in: log, of: Mutation.self)
  }
}

extension SlotFields {
  /// The first state is in that slot.
  mutating func begin(in slot: UInt8) {
    initialized = 1 << UInt16(slot)
    (published, current, spare) = (slot, slot, slot)
    hasReaders = slot >= 2
  }
}

/// The pointer to the log of a replayed state, behind everything else in the block.
extension StatePlaces {
  @inlinable
  static var logOffset: Int { (TrampolineLayout.payload + payload + 7) & ~7 }

  /// The number of bytes that the block of a replayed state needs behind the trampoline.
  static var payloadWithLog: Int {
    logOffset + MemoryLayout<UnsafeMutablePointer<ReplayLog>>.stride - TrampolineLayout.payload
  }

  @inlinable
  @inline(__always)
  static func log(in block: UnsafeMutableRawPointer) -> UnsafeMutablePointer<UnsafeMutablePointer<ReplayLog>>
  {
    (block + logOffset).assumingMemoryBound(to: UnsafeMutablePointer<ReplayLog>.self)
  }

  static func prepareLog<Mutation>(of mutation: Mutation.Type, in block: UnsafeMutableRawPointer) {
    log(in: block).initialize(to: ReplayLog.make(of: mutation))
  }

  static func destroyLog(in block: UnsafeMutableRawPointer) { ReplayLog.destroy(log(in: block).pointee) }
}
