import Glibc

/// The calls of the system that a server needs, on non-blocking sockets.
enum Socket {
  struct Failure: Error, CustomStringConvertible {
    let call: String
    let code: Int32
    var description: String { "\(call): \(String(cString: strerror(code)))" }
  }

  private static let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)

  /// A socket that listens on a TCP port of an IPv4 address.
  static func listen(on host: String, port: UInt16) throws(Failure) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    guard inet_pton(AF_INET, host, &address.sin_addr) == 1 else { throw Failure(call: host, code: EINVAL) }
    let descriptor = socket(AF_INET, kind, 0)
    if descriptor < 0 { throw Failure(call: "socket", code: errno) }
    set(SOL_SOCKET, SO_REUSEADDR, of: descriptor)
    let isBound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    guard isBound, Glibc.listen(descriptor, 4096) == 0 else {
      let code = errno
      close(descriptor)
      throw Failure(call: "\(host):\(port)", code: code)
    }
    return descriptor
  }

  /// The port of a socket that listens.
  static func port(of descriptor: Int32) -> UInt16 {
    var (address, size) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
    withUnsafeMutablePointer(to: &address) {
      _ = $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
    }
    return UInt16(bigEndian: address.sin_port)
  }

  /// A client that waits; nil if there is none.
  ///
  /// - Throws: If the system has no descriptor or memory for it. Then it goes on waiting, and the listener stays readable.
  static func accept(from listener: Int32) throws(Failure) -> Int32? {
    var descriptor = Glibc.accept(listener, nil, nil)
    // A client that has gone again meanwhile is no reason to stop.
    while descriptor < 0, errno == EINTR || errno == ECONNABORTED {
      descriptor = Glibc.accept(listener, nil, nil)
    }
    if descriptor < 0 {
      if errno == EAGAIN { return nil }
      throw Failure(call: "accept", code: errno)
    }
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    set(Int32(IPPROTO_TCP), TCP_NODELAY, of: descriptor)
    // A client whose computer has gone without a word: asked after 300 s of silence, and again every 100 s. After the third time
    // its connection fails.
    set(SOL_SOCKET, SO_KEEPALIVE, of: descriptor)
    set(Int32(IPPROTO_TCP), TCP_KEEPIDLE, to: 300, of: descriptor)
    set(Int32(IPPROTO_TCP), TCP_KEEPINTVL, to: 100, of: descriptor)
    set(Int32(IPPROTO_TCP), TCP_KEEPCNT, to: 3, of: descriptor)
    // The system asks only while it has nothing to send. This is for a client that does not acknowledge what is sent to it, or
    // has no room for it: its connection fails after as many milliseconds.
    set(Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, to: 600_000, of: descriptor)
    return descriptor
  }

  private static func set(_ level: Int32, _ option: Int32, to value: Int32 = 1, of descriptor: Int32) {
    var value = value
    setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
  }

  /// How many bytes were sent and have not been acknowledged by the client's system.
  static func unacknowledged(of descriptor: Int32) -> Int32 {
    var count: Int32 = 0
    return ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 ? count : 0
  }

  /// How many bytes were received and have not been read.
  static func unread(of descriptor: Int32) -> Int32 {
    var count: Int32 = 0
    return ioctl(descriptor, UInt(FIONREAD), &count) == 0 ? count : 0
  }

  enum Received {
    case bytes(Int)
    case nothing
    case end
  }

  /// Appends what has been received, at most what `buffer` holds.
  static func receive(from descriptor: Int32, by buffer: inout [UInt8], into input: inout [UInt8]) -> Received
  {
    let count = read(descriptor, &buffer, buffer.count)
    if count > 0 {
      input.append(contentsOf: buffer[..<count])
      return .bytes(count)
    }
    return count < 0 && (errno == EAGAIN || errno == EINTR) ? .nothing : .end
  }

  /// Sends what the socket takes of `bytes` from `start` on; returns how many bytes that were, or nil if it is broken.
  static func send(_ bytes: [UInt8], from start: Int, to descriptor: Int32) -> Int? {
    let count = bytes.withUnsafeBytes {
      Glibc.send(descriptor, $0.baseAddress! + start, $0.count - start, Int32(MSG_NOSIGNAL))
    }
    if count >= 0 { return count }
    return errno == EAGAIN || errno == EINTR ? 0 : nil
  }
}
