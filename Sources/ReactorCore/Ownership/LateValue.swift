/// A place for a value that comes later, once: 32 bytes, or a pointer to a larger value.
///
/// It is not generic: its functions are told the type. A class that has it as a property is destroyed without looking up
/// the metadata of a generic type, which takes longer than everything else that a small value costs.
///
/// Unsafe: the user must name the same type each time, make sure that one thread at a time accesses the place, and call
/// ``destroy(_:)`` at the end.
@unsafe
public struct LateValue: ~Copyable {
  @usableFromInline typealias Words = (UInt64, UInt64, UInt64, UInt64)

  @usableFromInline var words: Words = (0, 0, 0, 0)
  /// Whether there is something to destroy: a value that is more than its bytes.
  @usableFromInline var mustDestroy = false

  /// Creates an empty place.
  @inlinable
  public init() {}

  /// Whether a value of the type fits into the words.
  @inlinable
  static func isInline<Value>(_: Value.Type) -> Bool {
    MemoryLayout<Value>.size <= MemoryLayout<Words>.size
      && MemoryLayout<Value>.alignment <= MemoryLayout<Words>.alignment
  }

  /// Puts the value in. Once.
  @inlinable
  public mutating func set<Value: Sendable>(_ value: Value) {
    withUnsafeMutableBytes(of: &words) { bytes in
      // Not nil: the words are not empty.
      let memory = bytes.baseAddress.unsafelyUnwrapped
      if Self.isInline(Value.self) {
        memory.initializeMemory(as: Value.self, to: value)
      } else {
        let place = UnsafeMutablePointer<Value>.allocate(capacity: 1)
        place.initialize(to: value)
        memory.initializeMemory(as: UnsafeMutableRawPointer.self, to: UnsafeMutableRawPointer(place))
      }
    }
    // A constant where the code is specialised. So the end of a plain value, in a deinitializer that is not, is one branch.
    mustDestroy = !_isPOD(Value.self) || !Self.isInline(Value.self)
  }

  /// Returns a copy of the value, which must be there.
  @inlinable
  public func get<Value: Sendable>(_: Value.Type = Value.self) -> Value {
    withUnsafeBytes(of: words) { bytes in
      let memory = bytes.baseAddress.unsafelyUnwrapped
      if Self.isInline(Value.self) { return memory.assumingMemoryBound(to: Value.self).pointee }
      return memory.load(as: UnsafeMutableRawPointer.self).assumingMemoryBound(to: Value.self).pointee
    }
  }

  /// Destroys the value, if there is one. At the end of the place.
  @inlinable
  public mutating func destroy<Value: Sendable>(_: Value.Type) {
    if !mustDestroy { return }
    mustDestroy = false
    withUnsafeMutableBytes(of: &words) { bytes in
      let memory = bytes.baseAddress.unsafelyUnwrapped
      if Self.isInline(Value.self) {
        _ = memory.assumingMemoryBound(to: Value.self).deinitialize(count: 1)
      } else {
        let place = memory.load(as: UnsafeMutableRawPointer.self)
        place.assumingMemoryBound(to: Value.self).deinitialize(count: 1)
        place.deallocate()
      }
    }
  }
}
