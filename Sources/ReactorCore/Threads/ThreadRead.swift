import CReactorCore

/// A read that the calling thread is inside of, of a state with one place: an element of a list on the thread's stack.
///
/// The owner of such a state waits for its readers. So a thread that reads must not wait for anything that may itself wait
/// for the end of this read. It is marked like a thread inside of a turn (``TurnMark``), and it does not become the owner
/// of a state that it reads.
@usableFromInline
struct ThreadRead {
  /// The address of the state's block.
  @usableFromInline let state: UnsafeMutableRawPointer
  /// Whether the thread tried to become the owner meanwhile: then it tries again after the read.
  @usableFromInline var wasRefused = false
  @usableFromInline var outer: UnsafeMutableRawPointer?
  @usableFromInline var outerMark: UInt = 0

  @inlinable
  init(of state: UnsafeMutableRawPointer) {
    self.state = state
    outer = nil
  }
}

extension ThreadRead {
  @usableFromInline typealias Place = UnsafeMutablePointer<ThreadRead>

  /// Adds a read to the calling thread's list, innermost. It stays at its address until ``leave(_:)``.
  @inlinable
  @inline(__always)
  static func enter(_ read: Place) {
    read.pointee.outer = rr_thread_get_read()
    rr_thread_set_read(read)
    read.pointee.outerMark = TurnMark.enter().word
  }

  /// Removes the innermost read from the list.
  @inlinable
  @inline(__always)
  static func leave(_ read: Place) {
    TurnMark.leave(TurnMark.Outer(read.pointee.outerMark))
    rr_thread_set_read(read.pointee.outer)
  }

  /// The calling thread's innermost read of a state; nil if it does not read that.
  static func innermost(of state: UnsafeMutableRawPointer) -> Place? {
    var found: Place?
    forEach { if found == nil, $0.pointee.state == state { found = $0 } }
    return found
  }

  /// Whether the calling thread reads a state with one place.
  static var isInside: Bool { rr_thread_get_read() != nil }

  /// The states that the calling thread reads.
  static var states: [UnsafeRawPointer] {
    var states: [UnsafeRawPointer] = []
    forEach { states.append(UnsafeRawPointer($0.pointee.state)) }
    return states
  }

  private static func forEach(_ body: (Place) -> Void) {
    var next = rr_thread_get_read()
    while let read = next?.assumingMemoryBound(to: ThreadRead.self) {
      body(read)
      next = read.pointee.outer
    }
  }
}
