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

/// Where threads sleep while a word has a value: a futex made of a mutex and a condition variable, since a
/// system call with a variable number of arguments cannot be made from Swift.
struct ParkingSpot {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>

  static var lines: Int { 2 }

  /// The parking spot that was placed there.
  init(inLine line: Int, of memory: UnsafeMutableRawPointer) {
    let first = memory.advanced(by: line * CacheLine.size)
    mutex = first.assumingMemoryBound(to: pthread_mutex_t.self)
    condition = first.advanced(by: CacheLine.size).assumingMemoryBound(to: pthread_cond_t.self)
  }

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
    // A timeout must not depend on who sets the clock.
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

  /// Sleeps while `mustSleep`, at most so many nanoseconds (negative: for ever); false if they ran out.
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

  /// Wakes everybody. Whatever made `mustSleep` false must have happened before.
  func unparkAll() {
    pthread_mutex_lock(mutex)
    // Under the lock: a sleeper that looked before it was taken is asleep by now.
    pthread_cond_broadcast(condition)
    pthread_mutex_unlock(mutex)
  }
}

extension timespec {
  /// So many nanoseconds from now, on the clock that only goes forward.
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
/// Glibc's module for Swift has no `eventfd`, and of `pipe` only the form that leaves a moment in which a
/// fork inherits the descriptors.
@frozen
@usableFromInline
struct WakeSocket {
  /// The end to watch, and to read from.
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

  func signal() {
    var one: UInt8 = 1
    // EAGAIN means that the buffer is full, so the descriptor is readable already.
    while write(signalled, &one, 1) < 0 && errno == EINTR {}
  }

  /// Reads until nothing is left; that nothing was there is no error.
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
