import CBenchmarkLimits
import CJemalloc
import Foundation

/// How much memory the process uses at one moment.
public struct MemoryUse: Sendable {
  /// Bytes in live allocations, rounded up to the allocator's sizes.
  public let allocated: Int
  /// Bytes of the process in physical memory, including what the allocator keeps.
  public let resident: Int

  /// Nil if the allocator does not count, as under sanitizers.
  ///
  /// - Parameter purges: Whether the allocator first returns to the system what it keeps for later.
  public static func now(purges: Bool = false) -> MemoryUse? {
    AllocationCounter.flushThreadCache()
    // MALLCTL_ARENAS_ALL, which the importer cannot take from its macro.
    if purges { mallctl("arena.4096.purge", nil, nil, nil, 0) }
    guard let allocated = Self.allocated, let resident = Self.resident else { return nil }
    return MemoryUse(allocated: allocated, resident: resident)
  }

  /// The largest number of resident bytes since ``resetPeak()``; nil if the system does not report it.
  public static var peak: Int? { status("VmHWM:") }

  /// Starts ``peak`` anew. Returns false if the system refuses.
  public static func resetPeak() -> Bool {
    guard let file = fopen("/proc/self/clear_refs", "w") else { return false }
    let isWritten = fputs("5", file) >= 0
    return fclose(file) == 0 && isWritten
  }

  /// Bytes that the allocator has reserved for the object.
  public static func size(of object: AnyObject) -> Int {
    malloc_usable_size(Unmanaged.passUnretained(object).toOpaque())
  }

  private static var allocated: Int? {
    AllocationCounter.refresh()
    // Zero means that the allocator does not count.
    let bytes = AllocationCounter.read("stats.allocated")
    return bytes > 0 ? bytes : nil
  }

  private static var resident: Int? { status("VmRSS:") }

  private static func status(_ name: String) -> Int? {
    let lines = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
    guard let line = lines?.first(where: { $0.hasPrefix(name) }) else { return nil }
    return line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }.map { $0 * 1024 }
  }
}
