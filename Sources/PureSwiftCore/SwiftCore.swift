import Glibc
import RawCore

/// The core written in Swift alone: `Synchronization` atomics in raw memory, and Glibc for what needs the
/// system. It is there to be compared with ``CCore``, by the same tests and in the same benchmark; nothing
/// else should use it.
///
/// The algorithms, the layout in memory and the limits are those of the C core, whose headers are the place
/// to read about them. It differs in what Swift cannot say:
///
/// - **No membarrier.** It is a system call with a variable number of arguments, which Swift does not
///   import. There is no asymmetric fence at all: ``lightFence()`` does nothing, and ``heavyFence()`` says
///   so. An owner that finds a claim which is not yet published must therefore wait for its
///   publication. The claim itself it cannot miss: the claim is a sequentially consistent
///   read-modify-write, and so is the leaving. Sending needs no fence; ``SwiftEventCount/notify()`` has
///   one, and ``SwiftEventCount/prepare()`` has its counterpart.
/// - **No pause instruction.** ``pause()`` reads the clock instead.
/// - **No futex.** ``SwiftEventCount`` parks on a mutex and a condition variable, around the same word. A
///   notifier that finds nobody asleep does not touch them.
/// - **No eventfd.** The descriptor is one end of a pair of sockets.
/// - **No thread pointer.** ``threadToken`` calls `pthread_self()`, which the compiler takes for a constant
///   of the function; so this core must not be used from `async` functions, which change threads.
public enum SwiftCore: Core {
  public typealias Ring = SwiftRing
  public typealias Lanes = SwiftLanes
  public typealias Trampoline = SwiftTrampoline
  public typealias EventCount = SwiftEventCount

  public static var name: String { "Swift" }

  /// Glibc's handle of a thread is the address of its control block: unique among living threads and
  /// aligned to 64 bytes.
  @inlinable
  public static var threadToken: UInt64 { UInt64(pthread_self()) }

  /// Reads the monotonic clock, without a system call: 21 ns where the pause instruction takes 23. It writes
  /// to nobody's memory, leaves the pipeline to the other thread of the physical core while it waits for the
  /// counter, and cannot be optimised away. A full fence can: the compiler makes one of several in a row.
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
  public static func heavyFence() -> Bool { false }
}
