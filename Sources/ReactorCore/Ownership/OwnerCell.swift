/// A variable of whoever owns what it stands beside, such as an ``OwnedState``: no lock, no check. Unsafe:
/// that only the owner touches it is its user's to see to.
@unsafe
public struct OwnerCell<Value: Sendable>: ~Copyable {
  @usableFromInline let storage: UnsafeMutablePointer<Value>

  /// A variable with its first value, allocated apart from whatever contains it.
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

  /// The owner only.
  @inlinable
  public var value: Value {
    get { storage.pointee }
    nonmutating set { storage.pointee = newValue }
    nonmutating _modify { yield &storage.pointee }
  }
}

// Unchecked: its user guards it by ownership, as it guards the state.
extension OwnerCell: @unchecked Sendable {}
