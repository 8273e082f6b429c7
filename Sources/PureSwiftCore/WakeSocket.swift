import Glibc
import RawCore

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
}
