import CReactorCore
import Glibc

/// Watches several descriptors and a timer together, for a loop that waits for all of them.
///
/// Its own ``descriptor`` is readable while one of them is ready, so another loop can watch it.
public final class Poller: Sendable {
  /// What a descriptor is watched for.
  public struct Interest: OptionSet, Sendable, Hashable {
    /// The bits of `rr_poller`.
    public let rawValue: UInt32
    /// Interest in what the bits name.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Something can be read, or the other side has hung up.
    public static let readable = Interest(rawValue: UInt32(RR_POLL_READABLE))
    /// Something can be written, or the other side has hung up.
    public static let writable = Interest(rawValue: UInt32(RR_POLL_WRITABLE))
  }

  /// The reason why the system does not watch a descriptor.
  public struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error number. For example `EBADF`: the descriptor is not open; `EPERM`: it belongs to a file, which is always
    /// ready.
    public let code: Int32
    /// A refusal with that error number.
    public init(code: Int32) { self.code = code }
    /// The descriptor is not open.
    public static let notOpen = Refusal(code: EBADF)
    public var description: String { String(cString: strerror(code)) }
  }

  /// Readable while a watched descriptor is ready or the timer has expired.
  public let descriptor: Int32
  private let timer: Int32
  private static let timerTag = UInt64.max

  /// Creates a poller that watches nothing.
  ///
  /// - Throws: ``CoreError/noDescriptor``.
  public init() throws(CoreError) {
    let (poller, timer) = (rr_poller_create(), rr_timer_create())
    guard poller >= 0, timer >= 0, rr_poller_add(poller, timer, Interest.readable.rawValue, Self.timerTag)
    else {
      for descriptor in [poller, timer] where descriptor >= 0 { rr_descriptor_close(descriptor) }
      throw .noDescriptor
    }
    descriptor = poller
    self.timer = timer
  }

  deinit {
    rr_descriptor_close(timer)
    rr_descriptor_close(descriptor)
  }

  /// Watches a descriptor, which must stay open until it is removed. Any thread.
  ///
  /// - Parameters:
  ///   - watched: The descriptor.
  ///   - interest: What it is watched for.
  ///   - tag: The number that ``wait(timeoutMilliseconds:_:)`` passes to its body; any number except the largest.
  /// - Throws: ``Refusal``, if the system does not watch this descriptor.
  public func add(_ watched: Int32, for interest: Interest, tag: UInt64) throws(Refusal) {
    guard rr_poller_add(descriptor, watched, interest.rawValue, tag) else { throw Refusal(code: errno) }
  }

  /// Changes the interest in a descriptor that is watched already. Any thread.
  public func change(_ watched: Int32, to interest: Interest, tag: UInt64) throws(Refusal) {
    guard rr_poller_change(descriptor, watched, interest.rawValue, tag) else { throw Refusal(code: errno) }
  }

  /// Stops watching a descriptor. Any thread.
  public func remove(_ watched: Int32) { _ = rr_poller_remove(descriptor, watched) }

  /// Sets the time, on the clock of ``MonotonicTime``, at which the timer ends a wait; nil stops the timer. Any thread.
  public func setTimer(_ deadline: Int64?) { rr_timer_set(timer, deadline.map { max($0, 1) } ?? 0) }

  /// Waits until a descriptor is ready, the timer expires, or the time runs out (negative: no limit). Then calls `body`
  /// with the tag of each watched descriptor that is ready. Any thread.
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
  /// The descriptor to watch.
  public let descriptor: Int32

  /// Creates a descriptor that is not readable.
  ///
  /// - Throws: ``CoreError/noDescriptor``.
  public init() throws(CoreError) {
    let created = rr_event_create()
    if created < 0 { throw .noDescriptor }
    descriptor = created
  }

  deinit { rr_descriptor_close(descriptor) }

  /// Makes the descriptor readable. Any thread.
  public func signal() { rr_event_signal(descriptor) }

  /// Makes the descriptor unreadable again. Any thread.
  public func acknowledge() { rr_descriptor_acknowledge(descriptor) }
}
