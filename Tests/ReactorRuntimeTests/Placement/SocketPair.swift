import Glibc
import Synchronization
import Testing

/// Two connected sockets, non-blocking.
final class SocketPair: Sendable {
  let near: Int32
  private let far: Atomic<Int32>

  init() {
    var ends: [Int32] = [-1, -1]
    let result = socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends)
    #expect(result == 0)
    near = ends[0]
    far = Atomic(ends[1])
  }

  deinit {
    close(near)
    closeFar()
  }

  func closeFar() {
    let descriptor = far.exchange(-1, ordering: .relaxed)
    if descriptor >= 0 { close(descriptor) }
  }

  func write(_ bytes: [UInt8]) {
    #expect(Glibc.write(far.load(ordering: .relaxed), bytes, bytes.count) == bytes.count)
  }

  /// Reads one byte from the near end; nil if there is none.
  func read() -> UInt8? {
    var byte: UInt8 = 0
    return Glibc.read(near, &byte, 1) == 1 ? byte : nil
  }

  /// Writes to the near end until there is no room; returns how much that was.
  func fill() -> Int {
    let zeros = [UInt8](repeating: 0, count: 4096)
    var sum = 0
    while case let count = Glibc.write(near, zeros, zeros.count), count > 0 { sum += count }
    return sum
  }

  /// Reads everything from the far end; returns how much that was.
  func empty() -> Int {
    var buffer = [UInt8](repeating: 0, count: 65536)
    var sum = 0
    while case let count = Glibc.read(far.load(ordering: .relaxed), &buffer, buffer.count), count > 0 {
      sum += count
    }
    return sum
  }
}
