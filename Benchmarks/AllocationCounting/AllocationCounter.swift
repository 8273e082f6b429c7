import CBenchmarkLimits
import CJemalloc
import Dispatch
import Glibc
import Synchronization

/// Counts the process's allocations through jemalloc's statistics.
///
/// A thread's requests are counted when its cache is flushed. Producers flush when they exit; the calling thread and the
/// pool's threads are made to. The statistics are optional in jemalloc, and do not work under sanitizers. So a known number
/// of allocations is counted first; if the result is wrong, there is no counter.
public struct AllocationCounter: Sendable {
  /// `MALLCTL_ARENAS_ALL`, all arenas merged, which the importer cannot take from its macro.
  private static let small = "stats.arenas.4096.small.nrequests"
  private static let large = "stats.arenas.4096.large.nrequests"

  private let cores: Int
  /// The allocations of flushing the pool itself.
  private var flushCost = 0

  /// Nil where allocations cannot be counted.
  public init?(cores: Int) {
    self.cores = cores
    let known = 1000
    let before = sample()
    for _ in 0..<known {
      let block = malloc(48)
      bl_use(block)
      free(block)
    }
    guard (known...known + known / 100).contains(sample() - before) else { return nil }
    // The least of several: the first ones also start threads.
    let costs = (0..<5).map { _ in count(since: begin()) }
    flushCost = costs.min() ?? 0
  }

  /// The number to count from. What the pool's threads have allocated before is flushed first, so that it does not count
  /// for the next measurement.
  public func begin() -> Int {
    Self.flushPool(cores: cores)
    return sample()
  }

  /// Allocations since the process started, as far as they are flushed.
  private func sample() -> Int {
    Self.flushThreadCache()
    Self.refresh()
    return Self.read(Self.small) + Self.read(Self.large)
  }

  /// Allocations since `begin` returned `before`, those of the pool's threads included.
  public func count(since before: Int) -> Int {
    Self.flushPool(cores: cores)
    return max(0, sample() - before - flushCost)
  }

  /// Counts what the calling thread has allocated so far.
  public static func flushThreadCache() {
    mallctl("thread.tcache.flush", nil, nil, nil, 0)
  }

  /// Flushes the caches of the threads on which dispatch queues, tasks and actors run, as far as these can be reached: as
  /// many at once as there are cores, both of the pool for concurrent queues and of the one for serial queues.
  private static func flushPool(cores: Int) {
    let queues =
      Array(repeating: DispatchQueue.global(), count: cores)
      + (0..<cores).map { _ in DispatchQueue(label: "bench.flush") }
    let barrier = PoolBarrier(queues.count)
    let flushed = DispatchGroup()
    for queue in queues {
      queue.async(group: flushed) {
        barrier.wait()
        flushThreadCache()
      }
    }
    flushed.wait()
  }

  static func refresh() {
    var epoch: UInt64 = 1
    mallctl("epoch", nil, nil, &epoch, MemoryLayout<UInt64>.size)
  }

  static func read(_ name: String) -> Int {
    var value: UInt64 = 0
    var size = MemoryLayout<UInt64>.size
    guard mallctl(name, &value, &size, nil, 0) == 0 else { return 0 }
    return Int(value)
  }
}

/// Keeps each of several work items on a thread of its own until all have begun, or 2 ms have passed.
private final class PoolBarrier: Sendable {
  private let missing: Atomic<Int>

  init(_ count: Int) {
    missing = Atomic(count)
  }

  func wait() {
    missing.subtract(1, ordering: .relaxed)
    let patience = bl_now_ns() + 2_000_000
    while missing.load(ordering: .relaxed) > 0, bl_now_ns() < patience { sched_yield() }
  }
}
