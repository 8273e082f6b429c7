import Synchronization

/// A reference that, once it was set, is never nil again, and whose object lives until the holder is destroyed: an object
/// that replaces another one keeps that one alive. So using the object needs no reference counting, where each retain and
/// release is a locked instruction.
///
/// Any thread may set and use it, and must keep the holder alive meanwhile.
///
/// Unsafe: the holder's deinit must call ``releaseObject()``, and nothing may use the reference afterwards.
@unsafe
public struct AtomicReference<Object: AnyObject & Sendable>: ~Copyable, Sendable {
  /// The object's address; 0 without an object. Not an `Unmanaged<Object>`, whose metadata code that is not specialised looks
  /// up at each access: the deinitializer of a generic class, which took most of the time in which a reactor ends.
  @usableFromInline let address = Atomic<UInt>(0)

  /// Creates a reference without an object.
  @inlinable
  @inline(__always)
  public init() {}

  /// Whether the object was set. Any thread.
  // Relaxed: nothing is read through the object.
  @inlinable
  @inline(__always)
  public var isSet: Bool { address.load(ordering: .relaxed) != 0 }

  @inlinable
  @inline(__always)
  static func object(at address: UInt) -> Unmanaged<Object>? {
    UnsafeRawPointer(bitPattern: address).map { .fromOpaque($0) }
  }

  @inlinable
  @inline(__always)
  static func address(of object: Unmanaged<Object>) -> UInt { UInt(bitPattern: object.toOpaque()) }

  /// Calls `body` with the object if it was set, and returns the result. Any thread; wait-free.
  // Acquire: the initialization of the object, from the thread that set it. Sequentially consistent: one thread releases
  // an ownership and then loads this, another one sets this and then loads the owner. At least one sees the other's
  // store.
  @inlinable
  @inline(__always)
  @discardableResult
  public func use<Result>(_ body: (Object) -> Result) -> Result? {
    Self.object(at: address.load(ordering: .sequentiallyConsistent))?._withUnsafeGuaranteedRef(body)
  }

  /// Sets the object unless another thread was first. Returns the object that is set. Any thread.
  @inlinable
  public func setIfNil(_ new: Object) -> Object {
    let mine = Unmanaged.passRetained(new)
    // Release: the initialization of the object, to the threads that use it. Acquire: the initialization of the object
    // that another thread set first.
    let (isSet, first) = address.compareExchange(
      expected: 0, desired: Self.address(of: mine), ordering: .sequentiallyConsistent)
    if isSet { return new }
    mine.release()
    return Self.object(at: first).unsafelyUnwrapped.takeUnretainedValue()
  }

  /// As ``setIfNil(_:)``, of an object that lives as long as the process: it is not retained, since many threads that count
  /// the references to one object wait for each other. ``releaseObject()`` must not be called then.
  @inlinable
  public func setPermanent(_ new: UncountedReference<Object>) {
    // As in `setIfNil(_:)`.
    _ = address.compareExchange(
      expected: 0, desired: Self.address(of: new.object), ordering: .sequentiallyConsistent)
  }

  /// Replaces the object unless another thread was first. Any thread.
  ///
  /// - Parameters:
  ///   - old: The object that must be set now.
  ///   - new: The new object. It must keep `old` alive, which other threads may still use.
  /// - Returns: False if another thread was first.
  @inlinable
  public func replace(_ old: Object, with new: Object) -> Bool {
    let (mine, its) = (Unmanaged.passRetained(new), Unmanaged.passUnretained(old))
    // As in `setIfNil(_:)`.
    let isSet = address.compareExchange(
      expected: Self.address(of: its), desired: Self.address(of: mine), ordering: .sequentiallyConsistent
    ).exchanged
    (isSet ? its : mine).release()
    return isSet
  }

  /// Releases the object. The holder's deinit, after every other use.
  // Acquire: the initialization of the object, which this may destroy.
  @inlinable
  @inline(__always)
  public func releaseObject() {
    // Relaxed: no other thread sets it any more. The check spares most references the read-modify-write.
    if !isSet { return }
    // As any object: code that is not specialised would look up the metadata of the type.
    let object = UnsafeRawPointer(bitPattern: address.exchange(0, ordering: .acquiring))
    object.map { Unmanaged<AnyObject>.fromOpaque($0) }?.release()
  }
}

/// A reference that does not retain its object, so that using the object needs no reference counting. Counting costs more
/// than two locked instructions: each time it also takes the object's first cache line from the threads that read other
/// fields there.
///
/// Unsafe: the user must make sure that the object is alive whenever the reference is used.
@unsafe
public struct UncountedReference<Object: AnyObject & Sendable>: Sendable {
  @usableFromInline let object: Unmanaged<Object>

  /// Refers to `object` without retaining it.
  @inlinable
  public init(_ object: Object) { self.object = .passUnretained(object) }

  @inlinable
  init(_ object: Unmanaged<Object>) { self.object = object }

  /// Calls `body` with the object.
  @inlinable
  @inline(__always)
  public func use<Result>(_ body: (Object) -> Result) -> Result { object._withUnsafeGuaranteedRef(body) }
}

/// A weak reference to an object, together with a part of it that lives as long as the object. For code that must not keep
/// the object alive.
public struct WeakReference<Object: AnyObject & Sendable, Part: AnyObject & Sendable>: Sendable {
  /// The object, or nil once it is destroyed.
  public private(set) weak var object: Object?
  // Not retained: it is reached only through the object, which keeps it alive.
  @usableFromInline unowned(unsafe) let part: Part

  /// Refers to `object` weakly. Unsafe: `part` must live as long as `object`.
  @unsafe
  public init(_ object: Object, part: Part) {
    self.object = object
    self.part = part
  }

  /// The part of `object`, which the caller keeps alive.
  @inlinable
  public func part(of object: Object) -> Part { part }

  /// Calls `body` with the part and the object, unless that is destroyed. Keeps the object alive meanwhile. Any thread.
  ///
  /// - Returns: Whether `body` was called.
  @inlinable
  @discardableResult
  public func use(_ body: (Part, Object) -> Void) -> Bool {
    guard let object else { return false }
    body(part, object)
    return true
  }
}

/// An object of a list that only grows, which keeps the one that was added before it.
public protocol ListedObject: AnyObject, Sendable {
  /// The object that was added before.
  var earlier: Self? { get }
}

extension AtomicReference where Object: ListedObject {
  /// Returns an object of the list whose newest one this refers to; or adds one. Any thread; lock-free; O(length of the list).
  ///
  /// - Parameters:
  ///   - isWanted: Whether it is the object. Called with the newest first.
  ///   - make: Makes an object to be added behind the newest one, which it must keep. If it returns nil, none is added. Called once
  ///     more if another thread adds one meanwhile.
  /// - Returns: Nil if `make` returned nil. The list keeps the object. It is not retained: threads that count the references to
  ///   one object wait for each other.
  @inlinable
  public func first(
    where isWanted: (Object) -> Bool, orAdd make: (_ newest: Object?) -> Object?
  ) -> UncountedReference<Object>? {
    while true {
      // As in `use(_:)`.
      let newest = Self.object(at: address.load(ordering: .sequentiallyConsistent))
      var next = newest
      while let object = next {
        if object._withUnsafeGuaranteedRef(isWanted) { return UncountedReference(object) }
        next = object._withUnsafeGuaranteedRef { object in object.earlier.map { .passUnretained($0) } }
      }
      let first = newest?.takeUnretainedValue()
      guard let new = make(first) else { return nil }
      let isAdded = first.map { replace($0, with: new) } ?? (setIfNil(new) === new)
      if isAdded { return UncountedReference(new) }
    }
  }
}

extension UncountedReference {
  /// Refers to the object with an identity. Unsafe: it must be alive, and of this type.
  @inlinable
  public init(_ identity: ObjectIdentifier) {
    // Not nil: no object is at address 0.
    object = .fromOpaque(UnsafeRawPointer(bitPattern: UInt(bitPattern: identity)).unsafelyUnwrapped)
  }
}

/// Which code a closure runs, and which object it has captured its values in.
public struct ClosureIdentity: Equatable, Sendable {
  private let code: UInt
  private let context: UInt

  /// Whether the closure has captured anything.
  public var hasCaptured: Bool { context != 0 }

  /// The identity of the closure in a structure that has no other property. It is valid as long as the closure is alive.
  public init<Holder>(of holder: Holder) {
    precondition(MemoryLayout<Holder>.size == 2 * MemoryLayout<UInt>.size, "not a closure")
    (code, context) = withUnsafeBytes(of: holder) { bytes in
      (bytes.load(as: UInt.self), bytes.load(fromByteOffset: MemoryLayout<UInt>.size, as: UInt.self))
    }
  }
}
