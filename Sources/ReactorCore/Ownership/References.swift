import Synchronization

/// A reference that is set once and stays until its holder goes away, so that using the object counts
/// nothing: each retain and release is a locked instruction.
///
/// Any thread may set and use it; the holder lives as long as anybody does. Unsafe: the holder's deinit must
/// call ``letGo()``, and nothing may use it afterwards.
@unsafe
public struct AtomicOnce<Object: AnyObject & Sendable>: ~Copyable, Sendable {
  @usableFromInline let object = Atomic<Unmanaged<Object>?>(nil)

  /// Without an object.
  @inlinable
  public init() {}

  /// Whether it was set. Any thread.
  @inlinable
  public var isSet: Bool { object.load(ordering: .relaxed) != nil }

  /// Calls `body` with the object, if it was set. Any thread; wait-free.
  // Acquire: the other side of setting. Sequentially consistent, so that who gives an ownership up and then
  // finds nothing here misses nobody who sets it and then finds an owner.
  @inlinable
  @inline(__always)
  @discardableResult
  public func use<Result>(_ body: (Object) -> Result) -> Result? {
    object.load(ordering: .sequentiallyConsistent)?._withUnsafeGuaranteedRef(body)
  }

  /// Sets it, unless another thread was first; answers what it is set to. Any thread.
  @inlinable
  public func setIfNil(_ new: Object) -> Object {
    let mine = Unmanaged.passRetained(new)
    // Release: what the object is made of, to who uses it; acquire: of the one that was first.
    let (isSet, first) = object.compareExchange(
      expected: nil, desired: mine, ordering: .sequentiallyConsistent)
    if isSet { return new }
    mine.release()
    return first.unsafelyUnwrapped.takeUnretainedValue()
  }

  /// Sets it anew, unless another thread was first. Any thread.
  ///
  /// - Parameters:
  ///   - old: What it must be now.
  ///   - new: Must keep `old` alive, which somebody may be using.
  /// - Returns: False if another thread was first.
  @inlinable
  public func replace(_ old: Object, with new: Object) -> Bool {
    let (mine, its) = (Unmanaged.passRetained(new), Unmanaged.passUnretained(old))
    // As in `setIfNil(_:)`.
    let isSet = object.compareExchange(expected: its, desired: mine, ordering: .sequentiallyConsistent)
      .exchanged
    (isSet ? its : mine).release()
    return isSet
  }

  /// Releases the object. The holder, last of all.
  @inlinable
  public func letGo() { object.exchange(nil, ordering: .acquiring)?.release() }
}

/// A reference that keeps nothing alive, so that using the object counts nothing. Counting would not only cost
/// two locked instructions: it would take the object's first cache line, with what other threads read there,
/// from these threads each time.
///
/// Unsafe: its user sees to it that the object is there whenever this is used.
@unsafe
public struct UncountedReference<Object: AnyObject & Sendable>: Sendable {
  @usableFromInline let object: Unmanaged<Object>

  @inlinable
  public init(_ object: Object) { self.object = .passUnretained(object) }

  /// Calls `body` with the object.
  @inlinable
  @inline(__always)
  public func use<Result>(_ body: (Object) -> Result) -> Result { object._withUnsafeGuaranteedRef(body) }
}

/// An object that is not retained, together with a part of it that lives as long as the object does: to be
/// reached from what must not keep the object.
public struct WeakOwner<Owner: AnyObject & Sendable, Part: AnyObject & Sendable>: Sendable {
  /// The object, as long as it is there.
  public private(set) weak var owner: Owner?
  // Not counted: nobody gets at it without the owner, which keeps it.
  @usableFromInline unowned(unsafe) let part: Part

  /// Holds `owner` weakly. The part must live as long as it does.
  @unsafe
  public init(_ owner: Owner, part: Part) {
    self.owner = owner
    self.part = part
  }

  /// The part of an owner that is held.
  @inlinable
  public func part(of owner: Owner) -> Part { part }

  /// Calls `body` with both, unless the owner is gone; it stays for as long as that runs. Any thread.
  ///
  /// - Returns: Whether the owner was there.
  @inlinable
  @discardableResult
  public func use(_ body: (Part, Owner) -> Void) -> Bool {
    guard let owner else { return false }
    body(part, owner)
    return true
  }
}
