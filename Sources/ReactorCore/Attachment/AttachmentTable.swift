// The side table: what belongs to an object that has no property for it.
//
// A table is 16 shards, chosen by the hash of the object's address. A shard is an index, an array of slots
// that is probed linearly, and a mutex for those who change it. A slot holds nothing, the mark of what was
// removed, or an entry: address, object, value. An entry never changes; to replace a value is to replace the
// entry.
//
// Look-up. Pin, load the shard's index, go through at most 32 slots, take a reference to the value, unpin. No
// lock and no repetition: its steps are bounded, whatever others do. (What Swift does to count a reference is
// its own, a compare-and-exchange that repeats if another thread counts the same object's at that moment.)
//
// Nothing that a look-up may touch is freed under it. What is taken out, an entry or a whole index, is first
// unlinked, then kept until every look-up that may have found it has ended: see GracePeriods.swift. So a
// look-up in an index that was replaced meanwhile is as good as one that took place just before.
//
// A look-up does not miss what was attached before it began:
// - A slot goes from empty to an entry, and from then on between entries and marks; it is empty again only in
//   another index. So what was put behind a slot is not hidden by that slot's becoming empty.
// - An entry lies at most 32 slots behind the place that its hash says. Where there is no room, the index is
//   replaced by a larger one. The hash maps different addresses to different numbers, so that comes to an
//   end.
// - The index that replaces another holds all its entries before it is published, under the shard's mutex.
//
// One value for each object: who attaches looks again under the mutex.
//
// No mix-up. The address of an object may be given to another one when the first is freed. An entry holds its
// object `weak`, which tells whether it lives, and also `unowned`, which keeps nothing alive but the address:
// Swift frees the memory of an object, and with it gives the address away, only after the last unowned
// reference is gone; otherwise it could not trap on a use of one. So while an entry can be found, its address
// is that of its own object, living or dead, and comparing addresses is enough. (Loading the weak reference
// at each look-up would about double what that costs.) `AttachmentTableTests` watch that it is so.
//
// No leak. An entry whose object is dead is removed by sweeping: some slots at each insertion, all on
// `sweep()`, and all now and then in the background while the table is not empty. That a weak reference is
// nil is final, so it is looked at without the mutex: the reference that the look yields may turn out to be
// the last one to an object, whose deinit then runs there and may do whatever it likes. For the same reason
// values are let go, and made, outside every mutex.
//
// The edges, named at both sites:
// - ENTRY: what an entry holds, from who links it (the store to a slot or of an index) to who finds it there.
// - PIN: "I have pinned" before the loads of a look-up, against "I have unlinked" before the look at the
//   pins; all sequentially consistent, so that not both miss. And "I have read it", from the unpinning to who
//   frees.
// - SWEEPER: "there is something" before the look whether the sweeper runs, against "it does not run any
//   more" before its last look whether there is something; all sequentially consistent, so that not both
//   miss.

/// Attaches values to objects from outside: one for each object, gone soon after the object is.
///
/// Any thread may call anything, also from inside `make` and from the deinit of a value or of an object. The
/// caller holds the object during a call. The table holds no object, and each value until it is detached or
/// replaced, or its object is dead and the table is swept. Until then it also keeps the memory of the dead
/// object itself, though nothing that the object referred to.
///
/// Inside its own deinit an object is dead. It still finds what was attached, until somebody sweeps; what it
/// attaches is not kept.
///
/// An object with an attached value counts its references in a side allocation, as every object that was ever
/// referenced weakly does, which makes that somewhat slower and costs 32 bytes or so.
///
/// Objects need not be `Sendable`, but a sweep holds each for a moment to see whether it lives. If its last
/// other reference goes away in that moment, its deinit runs on the sweeping thread, as for any object that
/// another thread refers to weakly.
public final class AttachmentTable<Value: AnyObject & Sendable>: Sendable {
  @usableFromInline let store: AttachmentStore

  /// An empty table. It has no memory for entries until there are some.
  ///
  /// - Parameter sweepsInBackground: Whether it looks for dead objects by itself while it is not empty: every
  ///   50 ms, more and more rarely, down to once a second, while there are neither new entries nor dead
  ///   objects.
  public init(sweepsInBackground: Bool = true) {
    store = AttachmentStore(sweepsInBackground: sweepsInBackground)
  }

  /// The value that is attached to `object`, or nil. Wait-free.
  @inlinable
  public func value(of object: some AnyObject) -> Value? {
    guard let value = store.value(at: ObjectIdentifier(object)) else { return nil }
    // Only values of this type are put in.
    return unsafeDowncast(value, to: Value.self)
  }

  /// The value that is attached to `object`; if there is none, what `make` answers is attached first.
  ///
  /// `make` runs without a lock. Several threads that are first at the same time may each make one; one of
  /// those is attached and returned to all, the others are let go before anybody saw them.
  ///
  /// - Complexity: wait-free if there is a value; otherwise amortised O(1), under the mutex of a 16th of the
  ///   table.
  @inlinable
  public func value(of object: some AnyObject, orAttach make: () -> Value) -> Value {
    if let value = value(of: object) { return value }
    return unsafeDowncast(store.attach(make(), to: object, replacing: false), to: Value.self)
  }

  /// As ``value(of:orAttach:)``, for a table of values of several types: nothing of another type than `type`
  /// may ever be attached to that object.
  @unsafe
  @inlinable
  public func value<Specific: AnyObject & Sendable>(
    of object: some AnyObject, as type: Specific.Type, orAttach make: () -> Specific
  ) -> Specific {
    if let value = store.value(at: ObjectIdentifier(object)) { return unsafeDowncast(value, to: type) }
    return unsafeDowncast(store.attach(make(), to: object, replacing: false), to: type)
  }

  /// Attaches `value` to `object` instead of what was attached.
  ///
  /// What was attached is let go when no look-up is under way that may have found it: normally before this
  /// returns. Amortised O(1).
  @inlinable
  public func replace(_ value: Value, of object: some AnyObject) {
    _ = store.attach(value, to: object, replacing: true)
  }

  /// Takes the value of `object` away, if there is one.
  ///
  /// It is let go as in ``replace(_:of:)``. Amortised O(1).
  @inlinable
  public func detach(from object: some AnyObject) { store.detach(ObjectIdentifier(object), ifDead: false) }

  /// Takes away the value of the object that has or had this identity, if that object is dead.
  ///
  /// For who learns that it may be; inside its deinit it is. Amortised O(1).
  @inlinable
  public func sweep(_ object: ObjectIdentifier) { store.detach(object, ifDead: true) }

  /// Takes away the values of all objects that are dead, and lets them go as in ``replace(_:of:)``.
  ///
  /// - Complexity: O(entries).
  @inlinable
  public func sweep() { store.sweep() }

  /// How many values are attached, to living objects and to dead ones. May be stale.
  @inlinable
  public var count: Int { store.wasCount }
}
