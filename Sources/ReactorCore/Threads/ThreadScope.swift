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

/// Whether the calling thread is inside of a turn, of any reactor, or of a job of a loop: then it must not wait for
/// room.
///
/// A count in the thread's own memory; entering and leaving are one load and one store.
public enum TurnMark {
  @inlinable
  @inline(__always)
  public static func enter() { rr_thread_enter_turn() }

  @inlinable
  @inline(__always)
  public static func leave() { rr_thread_leave_turn() }

  @inlinable
  public static var isSet: Bool { rr_thread_is_in_turn() }
}

#if DEBUG
  import CReactorCore

  /// A turn of a reactor, while the calling thread runs it: what the checks of debug builds ask for.
  ///
  /// Turns nest: one that sends to an idle reactor runs that one's turn inside of its own. In release builds
  /// there is no such thing.
  public final class ThreadTurn {
    /// Whose turn it is.
    public let subject: ObjectIdentifier
    /// The type of the reactor.
    public let reactor: any AnyObject.Type
    private let beginning = ContinuousClock.now
    private let outer: UnsafeMutableRawPointer?

    private init(
      of subject: ObjectIdentifier, _ reactor: any AnyObject.Type, in outer: UnsafeMutableRawPointer?
    ) {
      self.subject = subject
      self.reactor = reactor
      self.outer = outer
    }

    /// The innermost that the calling thread is inside of.
    public static var innermost: ThreadTurn? {
      // Retained by whoever began it, until it ends.
      rr_thread_turn().pointee.map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }

    /// Begins one on the calling thread; nil if the innermost is of the same subject: that goes on.
    public static func begin(of subject: ObjectIdentifier, _ reactor: any AnyObject.Type) -> ThreadTurn? {
      if innermost?.subject == subject { return nil }
      // Never nil: it is the address of a variable of the thread's.
      let innermost = rr_thread_turn()!
      let turn = ThreadTurn(of: subject, reactor, in: innermost.pointee)
      innermost.pointee = Unmanaged.passRetained(turn).toOpaque()
      return turn
    }

    /// Ends it, and answers how long it took. The thread that began it, once, after those inside of it.
    public func end() -> Duration {
      rr_thread_turn().pointee = outer
      Unmanaged.passUnretained(self).release()
      return ContinuousClock.now - beginning
    }
  }
#endif
