import CReactorCore

/// What sources of several elements have yet to emit on the calling thread: they take turns, one element each.
///
/// The problem: `merge(.of(a1, a2), .of(a3, a4))` subscribes to one source after the other. If the first one emitted all of
/// its elements during its subscription, `combineLatest` would miss combinations, and a source that is subscribed to first
/// would always come first. So while a queue is *open*, a source of several elements appends an ``Emission`` to it, which
/// emits one element and appends itself again.
///
/// Each outermost subscription opens a queue, unless there is one: ``join(_:)``. So does an operator that subscribes to a
/// stream later, because of an element, a timer or the like. The function that has opened the queue empties it before it
/// returns. So whatever a subscription can emit at once is emitted before it returns, but after all operators hold what ends
/// their sources. Nothing recurses, and each source has at most one emission in the queue: its memory is bounded by the number
/// of sources.
///
/// A turn of a reactor has queues of its own: ``open(_:)``. What it causes is emitted before it ends, although it may run
/// inside of a queue of another reactor on the same thread.
///
/// A queue is two words on the stack of the function that has opened it, and a list of the emissions. It belongs to its
/// thread.
public enum EmissionQueue {
  @usableFromInline
  struct Fields {
    @usableFromInline var first: Unmanaged<Emission>?
    @usableFromInline var last: Unmanaged<Emission>?
    @inlinable init() {}
  }

  @usableFromInline typealias Place = UnsafeMutablePointer<Fields>

  /// The queue of the calling thread; nil if none is open.
  @inlinable
  @inline(__always)
  static var current: Place? { rr_thread_get_emissions()?.assumingMemoryBound(to: Fields.self) }

  /// Whether the calling thread has an open queue.
  @inlinable
  @inline(__always)
  public static var isOpen: Bool { rr_thread_get_emissions() != nil }

  /// Whether an emission waits in the open queue.
  @inlinable
  @inline(__always)
  public static var hasWaiting: Bool { current?.pointee.first != nil }

  /// Calls `body` with the thread's queue open. If this opens it, what waits is emitted before this returns.
  @inlinable
  @inline(__always)
  public static func join<Result>(_ body: () -> Result) -> Result { isOpen ? body() : open(body) }

  /// The same, not inlined: for generic code, of which there is a copy for each type of elements.
  @inline(never)
  public static func joinByCall(_ body: () -> Void) { join(body) }

  /// Calls `body` with a queue of its own, and then emits what waits in it. An outer queue continues afterwards.
  @inlinable
  @inline(__always)
  public static func open<Result>(_ body: () -> Result) -> Result {
    let outer = rr_thread_get_emissions()
    var fields = Fields()
    return withUnsafeMutablePointer(to: &fields) { queue in
      rr_thread_set_emissions(queue)
      let result = body()
      if queue.pointee.first != nil { emitAll(queue) }
      rr_thread_set_emissions(outer)
      return result
    }
  }

  /// Appends an emission to the open queue, which retains it.
  ///
  /// - Precondition: A queue is open, and the emission is in none.
  public static func append(_ emission: Emission) {
    guard let queue = current else { preconditionFailure("no queue is open") }
    let added = Unmanaged.passRetained(emission)
    if let last = queue.pointee.last {
      last._withUnsafeGuaranteedRef { $0.next = added }
    } else {
      queue.pointee.first = added
    }
    queue.pointee.last = added
  }

  /// Emits what waits in the open queue now, but not what is appended meanwhile: the turn of a source that does not append
  /// itself is over then. Called where the queue was opened.
  @inlinable
  @inline(__always)
  public static func emitWaiting() {
    if let queue = current, queue.pointee.first != nil { emitWaiting(queue) }
  }

  @usableFromInline
  @inline(never)
  static func emitWaiting(_ queue: Place) {
    guard let last = queue.pointee.last else { return }
    while let emission = takeFirst(queue) {
      // Compared first: it may append itself, or go away.
      let wasLast = Unmanaged.passUnretained(emission).toOpaque() == last.toOpaque()
      emission.emit()
      if wasLast { return }
    }
  }

  @usableFromInline
  @inline(never)
  static func emitAll(_ queue: Place) {
    while let emission = takeFirst(queue) { emission.emit() }
  }

  private static func takeFirst(_ queue: Place) -> Emission? {
    guard let emission = queue.pointee.first?.takeRetainedValue() else { return nil }
    queue.pointee.first = emission.next
    if emission.next == nil { queue.pointee.last = nil }
    emission.next = nil
    return emission
  }
}

/// What one source has yet to emit: an element of an ``EmissionQueue``.
open class Emission: @unchecked Sendable {
  // Unchecked: only the thread whose queue this is in accesses the link. `@exclusivity(unchecked)` because a check in
  // release builds costs more than the access.
  @exclusivity(unchecked) final var next: Unmanaged<Emission>?

  /// Creates one that is in no queue.
  public init() {}

  /// Emits one element, and appends this again if there are more. Called by the thread that appended it.
  open func emit() {}
}
