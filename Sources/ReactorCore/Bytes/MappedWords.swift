import Glibc
import Synchronization

/// A few 64-bit numbers in a file, shared by all processes that map it. What is stored is there after the process was killed,
/// but not after a power cut.
///
/// `@unchecked Sendable`: the memory holds atomics.
public final class MappedWords: @unchecked Sendable {
  @usableFromInline let words: UnsafeMutablePointer<Atomic<UInt64>>
  private let count: Int

  /// The reason why the system does not map a file.
  public struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error number.
    public let code: Int32
    /// Whether the disk has no room for the file.
    public var isDiskFull: Bool { code == ENOSPC || code == EDQUOT }
    public var description: String { String(cString: strerror(code)) }
  }

  /// Maps a file, which it creates if it is not there. New words are 0.
  ///
  /// - Throws: ``Refusal``.
  public init(path: String, count: Int) throws(Refusal) {
    let size = count * MemoryLayout<UInt64>.stride
    let file = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    if file < 0 { throw Refusal(code: errno) }
    defer { _ = Glibc.close(file) }
    // `ftruncate` would give the file its size, but no place on the disk. On a full disk, the first store into such a page stops the
    // process with SIGBUS.
    var code: Int32
    repeat { code = posix_fallocate(file, 0, size) } while code == EINTR
    if code != 0 { throw Refusal(code: code) }
    let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
    guard let memory, memory != MAP_FAILED else { throw Refusal(code: errno) }
    words = memory.bindMemory(to: Atomic<UInt64>.self, capacity: count)
    self.count = count
  }

  deinit { munmap(words, count * MemoryLayout<UInt64>.stride) }

  /// The number at an index. Relaxed. Any thread.
  @inlinable
  public subscript(index: Int) -> UInt64 {
    get { words[index].load(ordering: .relaxed) }
    set { words[index].store(newValue, ordering: .relaxed) }
  }
}
