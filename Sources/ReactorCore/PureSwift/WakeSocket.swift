import Glibc

/// A descriptor that becomes readable when signalled: an eventfd made of a pair of sockets.
///
/// Glibc's module for Swift has no `eventfd`, and of `pipe` only the form that leaves a moment in which a
/// fork inherits the descriptors.
@frozen
@usableFromInline
struct WakeSocket {
  /// The end to watch, and to read from.
  let watched: Int32
  private let signalled: Int32

  init() throws(CoreError) {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    var ends: (Int32, Int32) = (-1, -1)
    let result = withUnsafeMutableBytes(of: &ends) { bytes in
      socketpair(AF_UNIX, kind, 0, bytes.assumingMemoryBound(to: Int32.self).baseAddress!)
    }
    guard result == 0 else { throw .noDescriptor }
    (watched, signalled) = ends
  }

  func destroy() {
    close(watched)
    close(signalled)
  }

  func signal() {
    var one: UInt8 = 1
    // EAGAIN means that the buffer is full, so the descriptor is readable already.
    while write(signalled, &one, 1) < 0 && errno == EINTR {}
  }

  /// Reads until nothing is left; that nothing was there is no error.
  func empty() {
    withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
      while true {
        let count = read(watched, buffer.baseAddress, buffer.count)
        if count == buffer.count || (count < 0 && errno == EINTR) { continue }
        return
      }
    }
  }

  /// Sleeps until signalled, at most so many nanoseconds, rounded up to milliseconds (negative: for ever);
  /// false if they ran out.
  func wait(timeoutNanoseconds: Int64) -> Bool {
    var isCutShort = false
    var milliseconds: Int32 = -1
    if timeoutNanoseconds >= 0 {
      let (whole, rest) = timeoutNanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
      let wanted = whole + (rest > 0 ? 1 : 0)
      milliseconds = Int32(clamping: wanted)
      isCutShort = wanted > Int64(Int32.max)
    }
    var watching = pollfd(fd: watched, events: Int16(POLLIN), revents: 0)
    let ready = poll(&watching, 1, milliseconds)
    if ready > 0 { empty() }
    // After EINTR, or 24 days, the caller looks again, as after any return.
    return ready != 0 || isCutShort
  }
}
