import CReactorCore

/// What the calling thread is inside of: objects, innermost first.
///
/// A list on the thread's stack: to enter costs two stores, allocates nothing and counts no references.
public enum ThreadScope {
  private struct Frame {
    unowned(unsafe) let object: AnyObject
    let outer: UnsafeMutableRawPointer?
  }

  /// Calls `body` inside of `object`.
  public static func enter(_ object: AnyObject, _ body: () -> Void) {
    // Never nil: it is the address of a variable of the thread's.
    let innermost = rr_thread_scope()!
    var frame = Frame(object: object, outer: innermost.pointee)
    withUnsafeMutablePointer(to: &frame) { frame in
      innermost.pointee = UnsafeMutableRawPointer(frame)
      body()
      innermost.pointee = frame.pointee.outer
    }
  }

  /// Calls `body` inside of nothing: what the thread is inside of does not concern what it does there.
  public static func outside(_ body: () -> Void) {
    let innermost = rr_thread_scope()!
    guard let outer = innermost.pointee else { return body() }
    innermost.pointee = nil
    body()
    innermost.pointee = outer
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
    var next = rr_thread_scope()!.pointee
    while let frame = next?.assumingMemoryBound(to: Frame.self) {
      body(frame.pointee.object)
      next = frame.pointee.outer
    }
  }
}
