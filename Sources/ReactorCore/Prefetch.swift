import CReactorCore

/// Requests memory without waiting for it, for code that is about to use the memory of many objects: so it waits for one of them,
/// not for one after the other.
public enum Prefetch {
  /// Requests two neighbouring cache lines, from which an object or a block begins. Any address is allowed.
  @inlinable
  @inline(__always)
  public static func pair(_ address: UnsafeRawPointer) {
    rr_prefetch(address)
    rr_prefetch(address + 64)
  }

  /// Requests the first two cache lines of an object, which need not be alive any more. Any thread.
  @inlinable
  @inline(__always)
  public static func object(_ identity: ObjectIdentifier) {
    if let address = UnsafeRawPointer(bitPattern: UInt(bitPattern: identity)) { pair(address) }
  }
}
