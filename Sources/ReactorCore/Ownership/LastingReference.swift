import Synchronization

/// A reference that is set once and stays until its holder goes away, so that using the object counts
/// nothing: each retain and release is a locked instruction.
///
/// Any thread may set and use it; the holder lives as long as anybody does. Unsafe: the holder's deinit must
/// call ``letGo()``, and nothing may use it afterwards.
@unsafe
public struct LastingReference<Object: AnyObject & Sendable>: ~Copyable, Sendable {
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
