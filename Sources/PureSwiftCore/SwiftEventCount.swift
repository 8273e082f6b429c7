import Glibc
import RawCore
import Synchronization

/// The event count of the pure-Swift core: the word and the protocol of `rr_eventcount.h`, with a full fence
/// on both sides, since Swift reaches no membarrier.
///
/// It sleeps on a condition variable instead of a futex, and its descriptor is a socket instead of an
/// eventfd.
@frozen
public struct SwiftEventCount: RawEventCount, @unchecked Sendable {
  // Unchecked: behind the pointer are an atomic, constants, and a parking spot, which is made for threads.
  @usableFromInline let shared: UnsafeMutablePointer<Shared>

  @frozen
  @usableFromInline
  struct Shared: ~Copyable {
    /// An epoch, doubled, and in bit 0 whether somebody sleeps or is about to.
    @usableFromInline let word: Atomic<UInt32>
    @usableFromInline let socket: WakeSocket?
  }

  public init(_ kind: EventCountKind) throws(CoreError) {
    // The parking spot has lines of its own: who parks must not disturb who only looks at the word.
    let memory = try CacheLine.allocate(byteCount: (1 + ParkingSpot.lines) * CacheLine.size)
    let socket: WakeSocket?
    do {
      socket = kind == .descriptor ? try WakeSocket() : nil
    } catch {
      free(memory)
      throw error
    }
    do {
      try ParkingSpot.place(inLine: 1, of: memory)
    } catch {
      socket?.destroy()
      free(memory)
      throw error
    }
    shared = CacheLine.place(Shared(word: Atomic(0), socket: socket), inLine: 0, of: memory)
  }

  public func destroy() {
    shared.pointee.socket?.destroy()
    parkingSpot.destroy()
    free(shared)
  }

  private var parkingSpot: ParkingSpot { ParkingSpot(inLine: 1, of: shared) }

  public var descriptor: Int32 { shared.pointee.socket?.watched ?? -1 }

  @inlinable
  public var wasArmed: Bool { shared.pointee.word.load(ordering: .relaxed) & 1 != 0 }

  public var wakes: UInt32 { shared.pointee.word.load(ordering: .relaxed) >> 1 }
}

// MARK: The sleeper

extension SwiftEventCount {
  public func prepare() -> UInt32 {
    // "Somebody sleeps." Relaxed: the fence behind it orders it.
    let key = shared.pointee.word.bitwiseOr(1, ordering: .relaxed).newValue
    // WAKE: the sleeper's half of the pair of fences; the condition may be read with any ordering.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    return key
  }

  // Relaxed: a later notification finds the word armed, and signals the descriptor.
  public func maySleep(_ key: UInt32) -> Bool { shared.pointee.word.load(ordering: .relaxed) == key }

  public func acknowledge() { shared.pointee.socket?.empty() }

  public func wait(_ key: UInt32, timeoutNanoseconds: Int64) -> Bool {
    // Relaxed: the look is taken under the spot's lock, and a notifier changes the word before it takes that
    // lock. So either the look finds the change, or the notifier finds the sleeper parked.
    return parkingSpot.park(timeoutNanoseconds: timeoutNanoseconds) {
      shared.pointee.word.load(ordering: .relaxed) == key
    }
  }
}

// MARK: The notifier

extension SwiftEventCount {
  @inlinable
  public func notify() {
    // WAKE: the notifier's half of the pair of fences, after the condition became true. Either the sleeper
    // sees the condition, or this look sees the word armed.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    let word = shared.pointee.word.load(ordering: .relaxed)
    if word & 1 != 0 { wake(word) }
  }

  @inlinable
  public var mustNotify: Bool {
    // WAKE: as in ``notify()``.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    return shared.pointee.word.load(ordering: .relaxed) & 1 != 0
  }

  /// The slow half of ``notify()``: somebody is armed.
  @usableFromInline
  func wake(_ seen: UInt32) {
    var word = seen
    while word & 1 != 0 {
      // One of several notifiers wins; the losers find the word disarmed, or armed under a later epoch by a
      // sleeper that looks at its condition after it armed. Relaxed: who is woken looks again, behind a fence.
      let (isMine, current) = shared.pointee.word.compareExchange(
        expected: word, desired: (word & ~1) &+ 2, ordering: .relaxed)
      if isMine {
        parkingSpot.unparkAll()
        shared.pointee.socket?.signal()
        return
      }
      word = current
    }
  }
}
