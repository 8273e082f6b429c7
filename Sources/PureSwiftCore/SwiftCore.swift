import Glibc
import RawCore

/// The core written in Swift alone, with `Synchronization` atomics in raw memory, and Glibc for the system calls. It
/// exists to be compared with the C core, by the same tests and in the same benchmark. Nothing else should use it.
///
/// The algorithms, the memory layout and the limits are those of the C core, and are documented in its headers. The
/// differences are due to what Swift cannot express:
///
/// - **No membarrier.** It is a system call with a variable number of arguments, which Swift does not import. So there is
///   no asymmetric fence: ``lightFence()`` does nothing, and ``heavyFence()`` returns false. An owner that finds a claim
///   that is not yet published must therefore wait for its publication. It cannot miss the claim itself, because the claim
///   and the release of the ownership are both sequentially consistent read-modify-writes. Sending needs no fence.
///   ``SwiftEventCount/notify()`` has a full fence, and ``SwiftEventCount/prepare()`` has its counterpart.
/// - **A ring takes all of its memory at once**, since each word is written: the C core lets the system provide the memory of
///   a large ring as it is used.
/// - **No request of later lines.** `rr_ring_publish` requests the lines of a later slot before it publishes
///   (`rr_ring_prefetch`). Swift has no such instruction, so the stores of the producer that comes there wait for them.
/// - **A fence where C has none.** What keeps retains before a store that publishes is for the compiler only in C
///   (`atomic_signal_fence`). Here it is `atomicMemoryFence(ordering: .releasing)`: no instruction on x86-64, and a barrier
///   of the processor on AArch64.
/// - **No pause instruction.** ``pause()`` reads the clock instead.
/// - **No futex.** ``SwiftEventCount`` parks threads on a mutex and a condition variable, around the same word. A notifier
///   touches them only if it finds the word armed.
/// - **No eventfd.** The descriptor is one end of a pair of sockets.
/// - **No thread pointer.** ``threadToken`` calls `pthread_self()`.
public enum SwiftCore: Core {
  public typealias Ring = SwiftRing
  public typealias Lanes = SwiftLanes
  public typealias Trampoline = SwiftTrampoline
  public typealias EventCount = SwiftEventCount

  public static var name: String { "Swift" }

  /// Glibc's handle of a thread. It is the address of the thread's control block, so it is unique among living threads
  /// and aligned to 64 bytes.
  ///
  /// Never inlined: Glibc declares `pthread_self()` as constant, so the compiler would call it once for a whole function, also for
  /// one that is `async` and continues on another thread.
  @inline(never)
  public static var threadToken: UInt64 { UInt64(pthread_self()) }

  /// Reads the monotonic clock, without a system call: 21 ns where the pause instruction takes 23. This writes to no
  /// shared memory, leaves the pipeline to the other thread of the physical core while it waits for the counter, and is
  /// not optimised away. A full fence is: the compiler merges several in a row into one.
  @inlinable
  public static func pause() {
    var ignored = timespec()
    clock_gettime(CLOCK_MONOTONIC, &ignored)
  }

  @inlinable
  public static var hasFences: Bool { false }

  @inlinable
  public static func lightFence() {}

  @inlinable
  public static func lightFenceAfterExchange() {}

  @inlinable
  public static func heavyFence() -> Bool { false }
}
