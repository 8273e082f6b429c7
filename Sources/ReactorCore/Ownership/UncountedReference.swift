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
