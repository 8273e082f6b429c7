/// A place for a value that comes later, once: 32 bytes, or a pointer to a larger value.
///
/// Its layout does not depend on the type of the value. A class that has it as a property is destroyed without looking up
/// the metadata of an `Optional`, which takes longer than everything else that a small value costs.
///
/// Unsafe: the user must make sure that one thread at a time accesses it.
@unsafe
public struct LateValue<Value: Sendable>: ~Copyable {
  @usableFromInline typealias Words = (UInt64, UInt64, UInt64, UInt64)

  @usableFromInline var words: Words = (0, 0, 0, 0)
  @usableFromInline var isSet = false

  /// Creates an empty place.
  @inlinable
  public init() {}

  /// Whether the value fits into the words.
  @inlinable
  static var isInline: Bool {
    MemoryLayout<Value>.size <= MemoryLayout<Words>.size
      && MemoryLayout<Value>.alignment <= MemoryLayout<Words>.alignment
  }

  /// Puts the value in. Once.
  @inlinable
  public mutating func set(_ value: Value) {
    withUnsafeMutableBytes(of: &words) { bytes in
      // Not nil: the words are not empty.
      let memory = bytes.baseAddress.unsafelyUnwrapped
      if Self.isInline {
        memory.initializeMemory(as: Value.self, to: value)
      } else {
        let place = UnsafeMutablePointer<Value>.allocate(capacity: 1)
        place.initialize(to: value)
        memory.initializeMemory(as: UnsafeMutablePointer<Value>.self, to: place)
      }
    }
    isSet = true
  }

  /// Returns a copy of the value, which must be there.
  @inlinable
  public func get() -> Value {
    withUnsafeBytes(of: words) { bytes in
      let memory = bytes.baseAddress.unsafelyUnwrapped
      if Self.isInline { return memory.assumingMemoryBound(to: Value.self).pointee }
      return memory.assumingMemoryBound(to: UnsafeMutablePointer<Value>.self).pointee.pointee
    }
  }

  deinit {
    if !isSet { return }
    withUnsafeBytes(of: words) { bytes in
      let memory = UnsafeMutableRawPointer(mutating: bytes.baseAddress.unsafelyUnwrapped)
      if Self.isInline {
        memory.assumingMemoryBound(to: Value.self).deinitialize(count: 1)
      } else {
        let place = memory.assumingMemoryBound(to: UnsafeMutablePointer<Value>.self).pointee
        place.deinitialize(count: 1)
        place.deallocate()
      }
    }
  }
}
