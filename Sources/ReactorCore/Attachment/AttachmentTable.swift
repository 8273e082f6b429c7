import Dispatch
import Synchronization

// A side table: values that belong to objects which have no property for them.
//
// The table has 64 shards. The hash of an object's address chooses the shard. A shard is a mutex and an index,
// which maps the address of an object to its entry: the object, weakly, and its value.
//
// Look-up. Lock the shard, search the index, retain the value, unlock. The mutex is held for a few nanoseconds.
// Two threads meet at it only if they look up the same object or objects of the same shard.
//
// One value per object. A thread that finds no value makes one without the mutex, then locks the shard and
// searches again. If another thread was first, its value is returned, and the new one is released. A value is
// never replaced.
//
// No mix-up of two objects. When an object is freed, its address may be given to a new object. So an entry also
// has an unowned reference to its object. That reference does not keep the object alive, but Swift frees the
// memory of an object only after the last unowned reference is gone. So while an entry exists, its address
// belongs to its own object, living or dead, and a look-up only compares addresses. It does not load the weak
// reference, which would cost as much as the mutex. `AttachmentTableTests` check that Swift does this.
//
// No leak. A sweep removes the entries whose objects are dead; their weak references are nil. A shard is swept
// - by an insertion that finds it half full, so that dead entries stay in proportion to living ones;
// - by `removeIfDead`, for code that knows when an object may have died;
// - in the background until the table is empty: once a second, but with very many objects not more often than one sweep
//   takes a twentieth of the time.
//
// No foreign code under a mutex. Foreign code is what makes a value, the deinit of a value and the deinit of an
// object; all may use the table. A sweep therefore has three steps:
// 1. Under the mutex, copy the references to the shard's entries: O(entries / 64).
// 2. Without the mutex, find the dead entries in the copy. To load a weak reference is to retain the object for
//    a moment, so this may release the last reference to an object and run its deinit.
// 3. Under the mutex, remove the dead entries: O(dead entries). The copy still has them, so nothing is released until the
//    copy goes away, after the mutex is unlocked.
//
// Inside its own deinit an object counts as dead. It finds its value until a sweep removes the entry. A value
// that it attaches then is returned but not stored, since no later sweep could tell when to remove it.

/// Attaches values to objects from outside: one value per object, for as long as the object lives.
///
/// Any thread may call any method, also from inside `make` and from the deinit of a value or of an object. The
/// caller holds the object during a call. The table does not keep objects alive. A value and the memory of a
/// dead object, though nothing that the object referred to, are kept until a sweep finds that the object is
/// dead: usually about a second, and longer with hundreds of thousands of objects.
///
/// An object inside its own deinit is dead. It finds its value unless a sweep has removed it already; a value
/// that it attaches is not kept.
///
/// An object with a value counts its references in a side allocation, like every object that was ever
/// referenced weakly. This makes counting somewhat slower and costs about 32 bytes.
///
/// Objects need not be `Sendable`, but a sweep retains each for a moment to see whether it lives. If its last
/// other reference goes away in that moment, its deinit runs on the sweeping thread, as for any object that
/// another thread refers to weakly.
public final class AttachmentTable: Sendable {
  private typealias Shard = SystemMutex<AttachmentIndex>

  private static var shardCount: Int { 64 }

  private let shards = (0..<shardCount).map { _ in Shard(AttachmentIndex([])) }
  private let sweepInterval: DispatchTimeInterval
  /// Whether a background sweep has still to begin.
  let isSweepScheduled = Atomic(false)

  /// Creates an empty table.
  public convenience init() { self.init(sweepInterval: .seconds(1)) }

  /// - Parameter sweepInterval: The pause before each background sweep. Tests choose a short one, or `.never`.
  init(sweepInterval: DispatchTimeInterval) { self.sweepInterval = sweepInterval }

  // MARK: Values

  /// Returns the value that is attached to `object`, or nil.
  ///
  /// Unsafe: the value must be of the type that is named. Any thread; O(1) on average, under the mutex of a
  /// shard.
  @unsafe
  @inlinable
  public func value<Value: AnyObject & Sendable>(of object: some AnyObject, as type: Value.Type) -> Value? {
    guard let value = value(at: ObjectIdentifier(object)) else { return nil }
    return unsafeDowncast(value, to: type)
  }

  /// Returns the value that is attached to `object`; if there is none, attaches what `make` returns.
  ///
  /// `make` runs without a mutex. Several threads that are first at the same time may each make a value; one of
  /// those is attached and returned to all, the others are released.
  ///
  /// Unsafe: the value must be of the type that is named. Any thread; O(1) on average, amortised if a value is
  /// attached.
  @unsafe
  @inlinable
  public func value<Value: AnyObject & Sendable>(
    of object: some AnyObject, as type: Value.Type, orAttach make: () -> Value
  ) -> Value {
    unsafeDowncast(value(at: ObjectIdentifier(object)) ?? attach(make(), to: object), to: type)
  }

  @usableFromInline
  func value(at identity: ObjectIdentifier) -> (any AnyObject & Sendable)? {
    // Counting references to the shard would take half as long again as the mutex.
    UncountedReference(shard(of: identity)).use { $0.withLock { $0.entry(of: identity)?.value } }
  }

  /// Attaches the value, unless the object has one already; returns the value that is attached then. Any thread.
  @usableFromInline
  func attach(_ value: any AnyObject & Sendable, to object: AnyObject) -> any AnyObject & Sendable {
    let entry = AttachmentEntry(object, value)
    // Only inside the object's own deinit.
    if entry.isDead { return value }
    let shard = shard(of: entry.identity)
    let (attached, isSweepDue) = shard.withLock { index in
      if let first = index.entry(of: entry.identity) { return (first.value, false) }
      return (value, index.insert(entry))
    }
    // An entry that was not inserted is released here, not under the mutex.
    withExtendedLifetime(entry) {}
    if isSweepDue { sweep(shard) }
    scheduleSweep()
    return attached
  }

  @inline(__always)
  private func shard(of identity: ObjectIdentifier) -> Shard {
    // The upper six bits of the 32 bits of the hash.
    shards[AttachmentIndex.hash(identity) &>> 26]
  }

  /// How many values are attached, to living objects and to dead ones that are not swept yet. May be stale.
  var wasCount: Int { shards.reduce(0) { $0 + $1.withLock { $0.count } } }

  // MARK: Sweeping

  /// Releases the value of the object that has or had this identity, if that object is dead.
  ///
  /// For code that knows when an object may have died, and does not want to wait for the next sweep. Any thread.
  /// O(1) if the object lives or has no value; otherwise it sweeps the object's shard: O(entries / 64) on average.
  public func removeIfDead(_ object: ObjectIdentifier) {
    let shard = shard(of: object)
    let entry = shard.withLock { $0.entry(of: object) }
    if entry?.isDead == true { sweep(shard) }
  }

  /// The value of the object that has or had this identity, if that object is dead and its value was not released yet. Any thread.
  public func valueIfDead(_ object: ObjectIdentifier) -> (any AnyObject & Sendable)? {
    let entry = shard(of: object).withLock { $0.entry(of: object) }
    return entry?.isDead == true ? entry?.value : nil
  }

  /// Releases the values of all objects that are dead.
  func sweep() { for shard in shards { sweep(shard) } }

  private func sweep(_ shard: Shard) {
    // Copied under the mutex. A copy of the index would share its memory with the index, which an insertion changes in
    // place as soon as the copy is gone; ThreadSanitizer does not see the reference count that orders the two.
    let entries = shard.withLock { $0.entries }
    let dead = entries.filter { $0.isDead }
    if dead.isEmpty { return }
    shard.withLock { $0.remove(dead) }
    // The dead entries are released here, not under the mutex.
    withExtendedLifetime(dead) {}
  }

  /// Makes sure that a sweep begins after this call. Called after an insertion, without a mutex.
  ///
  /// - Parameter pause: How long it begins later, at least.
  private func scheduleSweep(after pause: Duration = .zero) {
    // Acquiring and releasing, like the exchange in the sweep: if this finds true, that exchange comes later,
    // so the sweep sees what this thread inserted.
    if isSweepScheduled.exchange(true, ordering: .acquiringAndReleasing) { return }
    DispatchQueue.global(qos: .utility).asyncAfter(
      deadline: max(.now() + sweepInterval, .now() + .nanoseconds(Int(pause.nanoseconds)))
    ) { [weak self] in
      self?.sweepInBackground()
    }
  }

  private func sweepInBackground() {
    // Before the sweep: an insertion that the sweep does not see schedules another one.
    _ = isSweepScheduled.exchange(false, ordering: .acquiringAndReleasing)
    let duration = ContinuousClock().measure { sweep() }
    if wasCount > 0 { scheduleSweep(after: duration * 20) }
  }
}
