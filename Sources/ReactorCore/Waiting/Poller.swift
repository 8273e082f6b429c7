import CReactorCore
import Glibc

/// Descriptors that are watched together, with a timer: for a loop that waits for all of them at once.
///
/// Its own ``descriptor`` is readable while one of them is ready, so another loop can watch that one.
public final class Poller: Sendable {
  /// What is waited for.
  public struct Interest: OptionSet, Sendable, Hashable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Something can be read, or the other side has hung up.
    public static let readable = Interest(rawValue: UInt32(RR_POLL_READABLE))
    /// Something can be written, or the other side has hung up.
    public static let writable = Interest(rawValue: UInt32(RR_POLL_WRITABLE))
  }

  /// Why a descriptor cannot be watched: what the system says.
  public struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// As `EBADF`: it is none that is open. `EPERM`: it is one of a file, which is always ready.
    public let code: Int32
    public init(code: Int32) { self.code = code }
    public var description: String { String(cString: strerror(code)) }
  }

  public let descriptor: Int32
  private let timer: Int32
  private static let timerTag = UInt64.max

  /// - Throws: ``CoreError/noDescriptor``.
  public init() throws(CoreError) {
    let (poller, timer) = (rr_poller_create(), rr_timer_create())
    guard poller >= 0, timer >= 0, rr_poller_add(poller, timer, Interest.readable.rawValue, Self.timerTag)
    else {
      for descriptor in [poller, timer] where descriptor >= 0 { close(descriptor) }
      throw .noDescriptor
    }
    descriptor = poller
    self.timer = timer
  }

  deinit {
    close(timer)
    close(descriptor)
  }

  /// Watches a descriptor, which must stay open until it is removed. Any thread.
  ///
  /// - Parameters:
  ///   - watched: The descriptor.
  ///   - interest: What it is to be ready for.
  ///   - tag: Comes back from ``wait(timeoutMilliseconds:_:)``; any number but the largest.
  public func add(_ watched: Int32, for interest: Interest, tag: UInt64) throws(Refusal) {
    guard rr_poller_add(descriptor, watched, interest.rawValue, tag) else { throw Refusal(code: errno) }
  }

  /// Waits for something else of a descriptor that is watched already. Any thread.
  public func change(_ watched: Int32, to interest: Interest, tag: UInt64) throws(Refusal) {
    guard rr_poller_change(descriptor, watched, interest.rawValue, tag) else { throw Refusal(code: errno) }
  }

  /// Any thread.
  public func remove(_ watched: Int32) { _ = rr_poller_remove(descriptor, watched) }

  /// Makes ``descriptor`` readable at that time of ``MonotonicTime``; nil: not by itself. Any thread.
  public func setTimer(_ deadline: Int64?) { rr_timer_set(timer, deadline.map { max($0, 1) } ?? 0) }

  /// Waits until something is ready, at most so long (negative: for ever), and calls `body` with the tag of
  /// each watched descriptor that is; the timer only ends the wait. Any thread.
  public func wait(timeoutMilliseconds timeout: Int32, _ body: (UInt64, Interest) -> Void) {
    withUnsafeTemporaryAllocation(of: rr_poll_event.self, capacity: 32) { events in
      let count = rr_poller_wait(descriptor, events.baseAddress, Int32(events.count), timeout)
      for event in events.prefix(Int(max(count, 0))) {
        if event.tag == Self.timerTag {
          rr_descriptor_acknowledge(timer)
        } else {
          body(event.tag, Interest(rawValue: event.ready))
        }
      }
    }
  }
}

/// A descriptor that becomes readable when it is signalled, until it is acknowledged.
public final class EventDescriptor: Sendable {
  public let descriptor: Int32

  /// - Throws: ``CoreError/noDescriptor``.
  public init() throws(CoreError) {
    descriptor = rr_event_create()
    if descriptor < 0 { throw .noDescriptor }
  }

  deinit { close(descriptor) }

  /// Any thread.
  public func signal() { rr_event_signal(descriptor) }

  /// Any thread.
  public func acknowledge() { rr_descriptor_acknowledge(descriptor) }
}
