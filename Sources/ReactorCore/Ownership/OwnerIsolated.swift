/// A variable that belongs to the owner of something else, such as an ``OwnedState``. It has no lock and no check.
///
/// Unsafe: the user must make sure that only the owner accesses it.
@unsafe
public struct OwnerIsolated<Value: Sendable>: ~Copyable {
  @usableFromInline let storage: UnsafeMutablePointer<Value>

  /// Creates a variable with its first value. The value is a separate allocation.
  @inlinable
  public init(_ value: Value) {
    storage = .allocate(capacity: 1)
    storage.initialize(to: value)
  }

  @inlinable
  deinit {
    storage.deinitialize(count: 1)
    storage.deallocate()
  }

  /// The value. The owner.
  @inlinable
  public var value: Value {
    get { storage.pointee }
    nonmutating set { storage.pointee = newValue }
    nonmutating _modify { yield &storage.pointee }
  }
}

// Unchecked: the user guards it by ownership, like the state.
extension OwnerIsolated: @unchecked Sendable {}
