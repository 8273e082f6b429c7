import Glibc
import RawCore
import Synchronization

/// The event count of the pure-Swift core. It has the word and the protocol of `rr_eventcount.h`, with a full fence on
/// both sides, because Swift cannot call membarrier.
///
/// Threads sleep on a condition variable instead of a futex, and the descriptor is a socket instead of an eventfd.
@frozen
public struct SwiftEventCount: RawEventCount, @unchecked Sendable {
  // Unchecked: the pointee consists of an atomic, constants, and a parking spot, which any thread may use.
  @usableFromInline let shared: UnsafeMutablePointer<Shared>

  @frozen
  @usableFromInline
  struct Shared: ~Copyable {
    /// An epoch, doubled, and in bit 0 the flag "armed": a thread sleeps or is about to.
    @usableFromInline let word: Atomic<UInt32>
    @usableFromInline let socket: WakeSocket?
  }

  public init(_ kind: EventCountKind) throws(CoreError) {
    // The parking spot has lines of its own: a thread that parks must not disturb notifiers, which only load the word.
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

  public var wakes: UInt32 { shared.pointee.word.load(ordering: .relaxed) >> 1 }
}

// MARK: The sleeper

extension SwiftEventCount {
  public func prepare() -> UInt32 {
    // Arms the word. Relaxed: the fence after it orders it.
    let key = shared.pointee.word.bitwiseOr(1, ordering: .relaxed).newValue
    // WAKE: the sleeper's half of the pair of fences. The condition may be loaded with any ordering.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    return key
  }

  // Relaxed: as in `rr_eventcount_prepare_again`.
  public func prepare(again key: UInt32) -> UInt32 {
    key & 1 != 0 && shared.pointee.word.load(ordering: .relaxed) == key ? key : prepare()
  }

  // Relaxed: if the word changes later, the notification that changes it finds it armed and signals the descriptor.
  public func maySleep(_ key: UInt32) -> Bool { shared.pointee.word.load(ordering: .relaxed) == key }

  public func acknowledge() { shared.pointee.socket?.empty() }

  public func wait(_ key: UInt32, timeoutNanoseconds: Int64) -> Bool {
    // Relaxed: the word is loaded under the spot's lock, and a notifier changes the word before it takes that lock. So
    // either this load sees the change, or the notifier finds the sleeper parked.
    return parkingSpot.park(timeoutNanoseconds: timeoutNanoseconds) {
      shared.pointee.word.load(ordering: .relaxed) == key
    }
  }
}

// MARK: The notifier

extension SwiftEventCount {
  @inlinable
  public func notify() {
    // WAKE: the notifier's half of the pair of fences, after the condition became true. Either the sleeper sees the
    // condition, or the next load sees the word armed.
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

  /// The rest of ``notify()``: the word was armed.
  @usableFromInline
  func wake(_ seen: UInt32) {
    var word = seen
    while word & 1 != 0 {
      // One of several notifiers succeeds. The others find the word disarmed, or armed in a later epoch by a sleeper that
      // checks its condition after arming. Relaxed: a woken sleeper checks its condition again, after a fence.
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

/// Lets threads sleep while a word has a value. It is a futex made of a mutex and a condition variable, because Swift
/// cannot make a system call with a variable number of arguments.
struct ParkingSpot {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>

  /// How many cache lines it takes.
  static var lines: Int { 2 }

  /// Refers to the parking spot that was placed there.
  init(inLine line: Int, of memory: UnsafeMutableRawPointer) {
    let first = memory.advanced(by: line * CacheLine.size)
    mutex = first.assumingMemoryBound(to: pthread_mutex_t.self)
    condition = first.advanced(by: CacheLine.size).assumingMemoryBound(to: pthread_cond_t.self)
  }

  /// Creates a parking spot in ``lines`` lines of `memory`.
  static func place(inLine line: Int, of memory: UnsafeMutableRawPointer) throws(CoreError) {
    let mutex = CacheLine.place(pthread_mutex_t(), inLine: line, of: memory)
    let condition = CacheLine.place(pthread_cond_t(), inLine: line + 1, of: memory)
    guard pthread_mutex_init(mutex, nil) == 0 else { throw .outOfMemory }
    var attributes = pthread_condattr_t()
    guard pthread_condattr_init(&attributes) == 0 else {
      pthread_mutex_destroy(mutex)
      throw .outOfMemory
    }
    defer { pthread_condattr_destroy(&attributes) }
    // A timeout must not change when the system's clock is set.
    guard pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0,
      pthread_cond_init(condition, &attributes) == 0
    else {
      pthread_mutex_destroy(mutex)
      throw .outOfMemory
    }
  }

  func destroy() {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
  }

  /// Sleeps while `mustSleep` returns true, at most that many nanoseconds (negative: without limit). Returns false if the
  /// time ran out.
  func park(timeoutNanoseconds: Int64, while mustSleep: () -> Bool) -> Bool {
    let isForEver = timeoutNanoseconds < 0
    var deadline = isForEver ? timespec() : timespec.now(plus: timeoutNanoseconds)
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while mustSleep() {
      if isForEver {
        pthread_cond_wait(condition, mutex)
      } else if pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT {
        return !mustSleep()
      }
    }
    return true
  }

  /// Wakes all sleepers. The caller must have made `mustSleep` false before.
  func unparkAll() {
    pthread_mutex_lock(mutex)
    // Under the lock: a sleeper that called `mustSleep` before the lock was taken is asleep by now.
    pthread_cond_broadcast(condition)
    pthread_mutex_unlock(mutex)
  }
}

extension timespec {
  /// The time that many nanoseconds from now, on the monotonic clock.
  fileprivate static func now(plus nanoseconds: Int64) -> timespec {
    let second = 1_000_000_000
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    time.tv_sec += Int(nanoseconds) / second
    time.tv_nsec += Int(nanoseconds) % second
    if time.tv_nsec >= second {
      time.tv_sec += 1
      time.tv_nsec -= second
    }
    return time
  }
}

/// A descriptor that becomes readable when signalled: an eventfd made of a pair of sockets.
///
/// Glibc's module for Swift has no `eventfd`. It has `pipe`, but not `pipe2`: with `pipe`, a fork at the wrong moment
/// inherits the descriptors.
@frozen
@usableFromInline
struct WakeSocket {
  /// The end to watch and to read from.
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

  /// Makes the watched end readable.
  func signal() {
    var one: UInt8 = 1
    // EAGAIN means that the buffer is full, so the descriptor is readable already.
    while write(signalled, &one, 1) < 0 && errno == EINTR {}
  }

  /// Reads until nothing is left. It is no error if nothing was there.
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
