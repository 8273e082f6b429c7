import CReactorCore

/// The objects that the calling thread is inside of, innermost first: a dynamic scope.
///
/// It is a list on the thread's stack. Entering costs two stores, allocates nothing and counts no references.
///
/// ``TurnMark`` and `ThreadTurn` are kept apart from this list. ``leaveAll(_:)`` must not hide them, and the mark must be
/// cheaper than a frame, because every turn sets it.
public enum ThreadScope {
  private struct Frame {
    unowned(unsafe) let object: AnyObject
    let outer: UnsafeMutableRawPointer?
  }

  /// Calls `body` with the calling thread inside of `object`.
  public static func enter(_ object: AnyObject, _ body: () -> Void) {
    var frame = Frame(object: object, outer: rr_thread_get_scope())
    withUnsafeMutablePointer(to: &frame) { frame in
      rr_thread_set_scope(frame)
      body()
      rr_thread_set_scope(frame.pointee.outer)
    }
  }

  /// Whether the calling thread is inside of no object.
  @inlinable
  @inline(__always)
  public static var isEmpty: Bool { rr_thread_get_scope() == nil }

  /// Whether the calling thread is inside of no object, and has no open ``EmissionQueue``: then ``leaveAll(_:)`` only calls its body.
  @inlinable
  @inline(__always)
  public static var hasNothingToLeave: Bool { isEmpty && !EmissionQueue.isOpen }

  /// Whether the calling thread ``hasNothingToLeave``, and ``TurnMark/isOutside``. One branch.
  @inlinable
  @inline(__always)
  public static var isOutsideOfAll: Bool { rr_thread_is_outside() }

  /// Calls `body` outside of all objects that the calling thread is inside of, and without its open ``EmissionQueue``. For
  /// work that does not belong to what the thread is in the middle of.
  @inlinable
  @inline(__always)
  public static func leaveAll(_ body: () -> Void) {
    let (outer, emissions) = (rr_thread_get_scope(), rr_thread_get_emissions())
    rr_thread_set_scope(nil)
    rr_thread_set_emissions(nil)
    body()
    rr_thread_set_emissions(emissions)
    rr_thread_set_scope(outer)
  }

  /// The objects of a type that the calling thread is inside of, innermost first.
  public static func objects<Object: AnyObject>(_: Object.Type) -> [Object] {
    var objects: [Object] = []
    forEach { if let object = $0 as? Object { objects.append(object) } }
    return objects
  }

  /// The innermost object of a type.
  public static func innermost<Object: AnyObject>(_: Object.Type) -> Object? {
    var innermost: Object?
    forEach { if innermost == nil { innermost = $0 as? Object } }
    return innermost
  }

  private static func forEach(_ body: (AnyObject) -> Void) {
    var next = rr_thread_get_scope()
    while let frame = next?.assumingMemoryBound(to: Frame.self) {
      body(frame.pointee.object)
      next = frame.pointee.outer
    }
  }
}
