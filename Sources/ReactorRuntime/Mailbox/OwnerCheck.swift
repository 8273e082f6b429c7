import ReactorCore
import Synchronization

/// Makes the owner of a mailbox check, before its next drain and after it has released, for something that is not in the
/// ring: what has spilled, whether the mailbox was closed, and observers that were disposed of.
///
/// A thread that requests a check sets the flag and runs a heavy fence; the owner runs a light fence before it reads the
/// flag. So either the owner finds the flag, or the thread sees what the owner did before it read it. Without fences
/// both sides are read-modify-writes, and one of them sees the other.
@usableFromInline
struct OwnerCheck: ~Copyable, Sendable {
  @usableFromInline let isRequested = Atomic(false)

  @usableFromInline init() {}

  /// Requests a check. Returns false if the kernel refused the fence. Any thread.
  @discardableResult
  func request() -> Bool {
    // Release: what the calling thread did before, to the owner that withdraws the request. Sequentially consistent, and
    // a fence: see above.
    _ = isRequested.logicalOr(true, ordering: .sequentiallyConsistent)
    return !CurrentCore.hasFences || CurrentCore.heavyFence()
  }

  /// Whether a check was requested. Any thread.
  ///
  /// - Parameter hasOverflow: Whether something can have spilled. Other threads that request a check load the ownership
  ///   word afterwards, so for them sequential consistency suffices.
  @inlinable
  @inline(__always)
  func wasRequested(hasOverflow: @autoclosure () -> Bool) -> Bool {
    // Sequentially consistent, like every check of the mailbox by an owner that has released: it comes after the
    // release in the one order of these operations, so it does not miss a flag that was set before a sender found an
    // owner.
    if !CurrentCore.hasFences, hasOverflow() {
      return isRequested.logicalOr(false, ordering: .sequentiallyConsistent).newValue
    }
    CurrentCore.lightFence()
    return isRequested.load(ordering: .sequentiallyConsistent)
  }

  /// Withdraws all requests, because the owner checks now. The owner.
  // Acquire: what the threads did that have requested a check. Of those that request it later the flag is set again.
  func withdraw() { _ = isRequested.exchange(false, ordering: .acquiring) }
}
