import Glibc
import Synchronization

/// A few 64-bit numbers in a file, shared by all processes that map it. What is stored is there after the process was killed,
/// but not after a power cut.
///
/// `@unchecked Sendable`: the memory holds atomics.
public final class MappedWords: @unchecked Sendable {
  @usableFromInline let words: UnsafeMutablePointer<Atomic<UInt64>>
  private let count: Int

  /// Maps a file, which it creates if it is not there. New words are 0. Returns nil if the system refuses.
  public init?(path: String, count: Int) {
    let size = count * MemoryLayout<UInt64>.stride
    let file = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    if file < 0 { return nil }
    defer { _ = Glibc.close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_size >= size || ftruncate(file, size) == 0 else { return nil }
    let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
    guard let memory, memory != MAP_FAILED else { return nil }
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
