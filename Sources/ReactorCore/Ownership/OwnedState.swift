/// A state that one thread at a time changes, and that any thread reads as a whole.
///
/// Its ``StateForm`` decides how. What follows is about slots. With ``StateForm/onePlace`` nothing is copied, as documented in
/// `rr_access.h`; with ``StateForm/replayed`` the owner brings an earlier slot up to date instead of copying to it.
///
/// The state lives in slots. One slot is published, and readers read the state there. The owner's first change copies the
/// published slot to a free one and continues in that slot, in place; a state that fits in registers is not copied first, but
/// stored there when it has changed. ``release()`` or ``publish()`` publishes the new slot, in one atomic operation together with
/// the ownership. A reader pins the slot that it reads. The argument why no
/// reader sees a torn state is documented in `rr_trampoline.h`; `rr_readers.h` documents how frequent readers avoid nearly all
/// of the cost.
///
/// The owner and readers never wait for each other. If readers pin all slots, the owner continues in a private slot: the
/// state is deferred, and readers see an older one. That takes seven readers, each still inside of a read of a different
/// earlier state. The changes are published as soon as a slot is free: by the owner when it publishes or releases, or, if it
/// has released, by the reader whose read has ended.
///
/// One earlier state stays alive until it is overwritten. Each state that is pinned, at most seven (``wasHeldCount``),
/// stays alive until the first change after it was unpinned. A thread that reads often keeps its last state pinned until
/// it reads again, it ends, or the owner needs the slot. A state of values with shared storage (arrays, dictionaries,
/// strings) shares that storage with the slot from which it was copied, so the first change of a turn copies the storage
/// that it changes.
///
/// Sized for millions of instances: one block of 128 bytes for a state of up to 16 bytes.
public struct OwnedState<State: Sendable>: ~Copyable {
  @usableFromInline let raw: CurrentCore.Trampoline
  /// How the owner changes the state while others read it.
  public let form: StateForm

  /// Creates an owned state that has not started: it holds no state yet, and no thread can acquire it.
  ///
  /// - Parameter hasOnePlace: Whether the form is ``StateForm/onePlace``; otherwise it is ``StateForm/slots``.
  /// - Throws: ``CoreError/outOfMemory``.
  @inlinable
  public init(inOnePlace hasOnePlace: Bool = false) throws(CoreError) {
    form = hasOnePlace ? .onePlace : .slots
    if hasOnePlace { try StateAccess.prepare() }
    raw = try CurrentCore.Trampoline(payload: StatePlaces<State>.payload)
    StatePlaces<State>.prepare(raw.memory)
  }

  /// Creates an owned state of the form ``StateForm/replayed`` that has not started.
  ///
  /// - Parameter mutation: What the owner passes to ``change(byReplaying:verify:_:)``; always the same type.
  /// - Throws: ``CoreError/outOfMemory``.
  public init<Mutation: Sendable>(replaying mutation: Mutation.Type) throws(CoreError) {
    form = .replayed
    raw = try CurrentCore.Trampoline(payload: StatePlaces<State>.payloadWithLog)
    StatePlaces<State>.prepare(raw.memory)
    StatePlaces<State>.prepareLog(of: mutation, in: raw.memory)
  }

  deinit {
    // A state or a mutation may keep what reports its end.
    TurnMark.whileDiscarding {
      if form == .replayed { StatePlaces<State>.destroyLog(in: raw.memory) }
      StatePlaces<State>.destroy(in: raw.memory)
    }
    if hasOnePlace { raw.destroyPlace() } else { raw.destroy() }
  }

  /// Whether the state is changed where it is read.
  @inlinable
  @inline(__always)
  public var hasOnePlace: Bool { form == .onePlace }

  /// The fields that only the owner accesses, at each change.
  @inlinable
  @inline(__always)
  var owner: UnsafeMutablePointer<OwnerFields> { OwnerFields.pointer(in: raw.memory) }

  /// The fields that only the owner accesses, to find a slot and to publish it, and to note that it changes the state.
  @inlinable
  @inline(__always)
  var slots: UnsafeMutablePointer<SlotFields> { SlotFields.pointer(in: raw.memory) }

  /// Requests what a turn of a small state needs, without waiting for it. Any thread.
  @inlinable
  public func prefetch() { Prefetch.pair(raw.memory) }

  /// The memory of the state in a slot.
  @inlinable
  @inline(__always)
  func place(of slot: Int) -> UnsafeMutablePointer<State> {
    StatePlaces<State>.place(of: slot, in: raw.memory)
  }
}

// Unchecked: only the owner accesses its fields, the log of a replayed state but for its counter, and the slots that are not
// published. The trampoline lets one thread at a time be the owner, with a happens-before edge from each owner to the next. A
// slot is pinned while it is read.
extension OwnedState: @unchecked Sendable {}

extension OwnedState {
  /// Makes the calling thread the owner of a state that has not started, and publishes the result of `initial` as the first
  /// state. Any thread.
  ///
  /// - Returns: False if another thread was first; `initial` is not called then.
  public func tryInitialize(with initial: () -> State) -> Bool {
    guard raw.tryInitialize(CurrentCore.threadToken) else { return false }
    let state = initial()
    let slot = firstSlot
    let (owner, place) = (owner, StatePlaces<State>.placeOrNew(of: Int(slot), in: raw.memory))
    place.initialize(to: state)
    owner.pointee.place = place.raw
    slots.pointee.begin(in: slot)
    raw.publish(CurrentCore.threadToken, slot: Int(slot))
    return true
  }

  /// Makes the calling thread the owner if the state has started and has no owner. Any thread; lock-free.
  ///
  /// - Returns: If the state has one place, false also if the thread reads it; or if the thread reads another such state while
  ///   anybody reads this one (``isReaderOfAnother``).
  @inlinable
  @inline(__always)
  public func tryAcquire() -> Bool { tryAcquire(as: form) }

  /// The same, with the form as a constant where the caller knows it: then the code has no branches for the others.
  @inlinable
  @inline(__always)
  public func tryAcquire(as form: StateForm) -> Bool {
    assert(form == self.form, "a wrong form was passed")
    if form == .onePlace, raw.hasReaders, noteRefusalIfReader() { return false }
    return raw.tryAcquire(CurrentCore.threadToken)
  }

  /// The same for a thread that ``TurnMark/isOutside``, and so reads no state with one place.
  @inlinable
  @inline(__always)
  public func tryAcquireOutside() -> Bool {
    assert(TurnMark.isOutside, "the thread is inside of something")
    return raw.tryAcquire(CurrentCore.threadToken)
  }

  /// The same for a thread that leaves what it has sent to the owner, if there is one. After false, the owner will find that.
  @inlinable
  public func tryAcquireOrRely() -> Bool { tryAcquire() || (!isBusy && tryAcquire()) }

  /// As ``tryAcquire()``, for a thread that has just released the ownership. It is not refused for what it reads: others rely on it to check
  /// once more.
  ///
  /// That makes no circle of waits. In a circle each thread reads a state and waits, as the owner of the next state, for a reader of it.
  /// It became that owner for the first time in its read, at a moment when nobody read the next state. So each began to read before
  /// the next thread did; all around, that cannot be. (`rr_access.h` says why no two threads miss each other's reads.)
  @inlinable
  @inline(__always)
  public func tryAcquireAgain() -> Bool { raw.tryAcquire(CurrentCore.threadToken) }

  /// Reserves the ownership if the state has started and has no owner. After true, the caller must make sure that one
  /// thread calls ``acquireScheduled()``. Any thread; lock-free.
  @inlinable
  public func trySchedule() -> Bool { raw.trySchedule() }

  /// Makes the calling thread the owner after a ``trySchedule()``. The caller needs a happens-before edge from the thread
  /// that scheduled.
  @inlinable
  public func acquireScheduled() { raw.acquireScheduled(CurrentCore.threadToken) }

  /// Whether the calling thread is the owner. Any thread.
  @inlinable
  public var isOwner: Bool { raw.isOwner(CurrentCore.threadToken) }

  /// Whether the state has an owner, or is scheduled. Any thread; may be stale at once. About 10 µs if it is released by
  /// ``release(as:afterTurns:)`` and has an owner.
  ///
  /// It is one half of a pair. One thread sends and then calls this; another one releases and then checks the mailbox. At least
  /// one of them sees what the other one did; see `rr_trampoline.h`. A thread to which ``tryAcquire()`` has returned false cannot
  /// rely on that alone: ``tryAcquireOrRely()``.
  @inlinable
  @inline(__always)
  public var isBusy: Bool { raw.isBusy }

  /// The token (``Core/threadToken``) of the owner. A number that is no thread's token if there is no owner. Any thread; may
  /// be stale at once, so nobody may rely on that owner because of it: ``isBusy``.
  @inlinable
  public var ownerToken: UInt64 { raw.ownerToken }

  /// Whether there is a state. Any thread.
  @inlinable
  public var hasStarted: Bool { raw.publishedSlot >= 0 }

  /// Changes the state. The owner, but not inside of another change. `body` must not publish the state or release the ownership.
  @unsafe
  @inlinable
  @inline(__always)
  public func change(_ body: (inout State) -> Void) { change(as: form, body) }

  /// The same, with the form as a constant where the caller knows it.
  @unsafe
  @inlinable
  @inline(__always)
  public func change(as form: StateForm, _ body: (inout State) -> Void) {
    assert(isOwner, "only the owner may change the state")
    assert(form == self.form && form != .replayed, "a change of a replayed state needs its mutation")
    let (owner, source) = (owner, owner.pointee.place)
    var place = source
    if owner.pointee.isPublished {
      if form == .onePlace {
        beginChanges()
      } else {
        // The copy destroys an earlier state, which may cause another change: that must wait.
        if !_isPOD(State.self) { slots.pointee.change = .byValue }
        place = continueInSpareSlot()
      }
    }
    slots.pointee.change = .inPlace
    if Self.changesInRegisters {
      var state = source.state(State.self).pointee
      body(&state)
      place.state(State.self).pointee = state
    } else {
      body(&place.state(State.self).pointee)
    }
    slots.pointee.change = .none
  }

  /// Whether ``change(_:)`` calls its body with a local copy, and stores that in the current slot afterwards. Then the processor does
  /// not load what it has just stored. During the body the current slot holds an older state. Nobody reads it: the owner reads the
  /// published state, and nothing is published.
  @inlinable
  static var changesInRegisters: Bool { _isPOD(State.self) && MemoryLayout<State>.size <= 32 }

  /// Replaces the state by the result of `body`, which is called with the state before. The owner still reads that state
  /// while `body` runs. The owner, but not inside of another change. If the state is a replayed one, and not all of its changes
  /// are such, ``forgetMutations()`` must precede it.
  @unsafe
  @inlinable
  @inline(__always)
  public func replace(_ body: (State) -> State) {
    assert(isOwner, "only the owner may change the state")
    let owner = owner
    slots.pointee.change = .byValue
    do {
      var state = body(owner.pointee.place.state(State.self).pointee)
      // Exchanged, not assigned: the deinitializers of an earlier state may read the reactor's state, and an assignment releases
      // parts of the old one before it has stored all of the new one.
      if hasOnePlace {
        if owner.pointee.isPublished { beginChanges() }
        swap(&owner.pointee.place.state(State.self).pointee, &state)
      } else if !owner.pointee.isPublished || !tryMoveToSpareSlot({ $0.pointee = state }) {
        if owner.pointee.isPublished { copyToFreeSlot() }
        swap(&owner.pointee.place.state(State.self).pointee, &state)
      }
      // Here an earlier state is destroyed, which may cause another change: that must wait.
    }
    slots.pointee.change = .none
  }

  /// Lets other threads read the changes, if the state has one place. Otherwise they wait for the end of the turn. The
  /// owner, after the last change of an action, and before it runs other code that may wait for something.
  @unsafe
  @inlinable
  @inline(__always)
  public func endAction() { endAction(as: form) }

  /// The same, with the form as a constant where the caller knows it.
  @unsafe
  @inlinable
  @inline(__always)
  public func endAction(as form: StateForm) {
    assert(form == self.form, "a wrong form was passed")
    if form == .onePlace, !owner.pointee.isPublished { endChanges() }
  }

  /// Whether the owner is inside of ``change(_:)``, ``replace(_:)`` or ``withValue(_:thenCheck:)``, and so must not
  /// change the state now. The owner.
  @unsafe
  @inlinable
  public var isChanging: Bool { slots.pointee.change != .none || isChangingOnce }

  /// Whether the owner is inside of a change in place: that of ``change(_:)`` or ``changeOnce(_:as:_:)``, or a mutation that is or will be
  /// replayed. The owner.
  @unsafe
  @inlinable
  public var isChangingInPlace: Bool { slots.pointee.change == .inPlace || isChangingOnce }

  /// Whether the owner has begun ``changeOnce(_:as:_:)`` of a state with one place, and not ended it: that is noted for readers only. The
  /// owner.
  @inlinable
  @inline(__always)
  var isChangingOnce: Bool { hasOnePlace && owner.pointee.isPublished && !raw.wasOpen(passingHold: true) }

  /// The state with the owner's changes. The owner, but not inside of a change.
  @unsafe
  @inlinable
  public var current: State {
    assert(!isChangingInPlace, "the state is read inside of a change")
    return owner.pointee.place.state(State.self).pointee
  }
}

extension OwnedState {
  /// How many earlier states were pinned a moment ago: a thread is reading them, or kept them from its last read. At most
  /// seven. Any thread.
  public var wasHeldCount: Int {
    if hasOnePlace { return 0 }
    let published = raw.publishedSlot
    var count = 0
    for slot in 0..<snapshotSlotCount where slot != published && !raw.isFree(slot: slot) { count += 1 }
    return count
  }

  /// How often the owner deferred the publication of its changes because readers pinned every slot. Any thread.
  public var wasDeferredCount: Int { raw.wasDeferred }
}
