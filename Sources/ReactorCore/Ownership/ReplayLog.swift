import Synchronization

/// The latest mutations of a replayed state, oldest first, and how many of all its mutations the state in each slot contains.
///
/// The position of a mutation is how many came before it. The log holds those from `start` to `end`. A state that lacks an older
/// one can never be brought up to date: it is *lost*.
///
/// How many mutations are worth keeping depends on what a copy costs, since what they bring up to date need not be copied. So the
/// bound is as many as take as long to apply as the latest copies took, but at least 2,048, two turns of a thousand actions, and at
/// most 262,144; and above 2,048 so many that they take 16 MiB. Mutations that no state lacks are removed before that.
///
/// Not generic, so that what does not know the type of the mutations can hold it: the functions are told the type, always the same
/// one. The owner accesses everything but `copies`.
@usableFromInline
struct ReplayLog: ~Copyable {
  /// A ring: the mutation at a position is at the remainder of its division by the capacity, which is a power of two.
  @usableFromInline private(set) var entries: UnsafeMutableRawPointer
  @usableFromInline private(set) var capacity = 16
  @usableFromInline private(set) var start = 0
  @usableFromInline private(set) var end = 0
  /// How many mutations there were when the owner last searched for some that no state lacks.
  @usableFromInline var trimmed = 0
  /// How many mutations the state in each slot contains. Not of the current slot, whose state contains all.
  @usableFromInline var positions = InlineArray<8, Int>(repeating: 0)
  /// The nanoseconds that a copy of the state takes, and those for 1,024 mutations, as far as is known. One interruption by the
  /// system at most doubles either.
  private(set) var copyDuration: Int64 = 0
  private var duration1024: Int64 = 1024 * 64
  /// How often the owner has copied the state. Relaxed: it is a counter.
  let copies = Atomic(0)
  private let discardEntries: @Sendable (_ position: Int, UnsafeMutablePointer<ReplayLog>) -> Void

  private init<Mutation>(of _: Mutation.Type) {
    entries = UnsafeMutableRawPointer(UnsafeMutablePointer<Mutation>.allocate(capacity: capacity))
    discardEntries = { ReplayLog.discard(before: $0, in: $1, of: Mutation.self) }
  }

  /// Makes an empty log, on cache lines of its own: readers must not meet what the owner writes at each change.
  static func make<Mutation>(of mutation: Mutation.Type) -> UnsafeMutablePointer<ReplayLog> {
    let line = cacheLineSize
    let byteCount = (MemoryLayout<ReplayLog>.size + line - 1) / line * line
    let log = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: line)
      .assumingMemoryBound(to: ReplayLog.self)
    log.initialize(to: ReplayLog(of: mutation))
    return log
  }

  /// Destroys the log. At the end of the state.
  static func destroy(_ log: UnsafeMutablePointer<ReplayLog>) {
    log.pointee.discardEntries(log.pointee.end, log)
    log.pointee.entries.deallocate()
    log.deinitialize(count: 1)
    UnsafeMutableRawPointer(log).deallocate()
  }

  // MARK: Mutations

  /// The number of mutations.
  @inlinable
  var count: Int { end &- start }

  /// The mutation at a position.
  @inlinable
  @inline(__always)
  func entry<Mutation>(at position: Int, of _: Mutation.Type) -> UnsafeMutablePointer<Mutation> {
    entries.assumingMemoryBound(to: Mutation.self) + position & (capacity &- 1)
  }

  /// Adds a mutation, for which there must be room.
  @inlinable
  @inline(__always)
  mutating func append<Mutation>(_ mutation: Mutation) {
    entry(at: end, of: Mutation.self).initialize(to: mutation)
    end &+= 1
  }

  /// Removes the mutations before a position. Their deinitializers may use the reactor, but change no state: the caller has
  /// marked it as being changed.
  @inlinable
  @inline(__always)
  static func discard<Mutation>(
    before position: Int, in log: UnsafeMutablePointer<ReplayLog>, of _: Mutation.Type
  ) {
    if _isPOD(Mutation.self) {
      log.pointee.start = max(log.pointee.start, position)
      return
    }
    while log.pointee.start < position {
      // Out of the log before it is destroyed.
      let oldest = log.pointee.entry(at: log.pointee.start, of: Mutation.self).move()
      log.pointee.start &+= 1
      withExtendedLifetime(oldest) {}
    }
  }

  /// The state has changed by something else than a mutation: every earlier state is lost.
  static func forgetAll(in log: UnsafeMutablePointer<ReplayLog>) {
    log.pointee.discardEntries(log.pointee.end, log)
    log.pointee.end += 1
    log.pointee.start = log.pointee.end
  }

  // MARK: The bound

  @usableFromInline
  mutating func noteCopy(since beginning: Int64) {
    let duration = MonotonicTime.now - beginning
    let isFirst = copies.add(1, ordering: .relaxed).oldValue == 0
    copyDuration = isFirst ? duration : min(duration, 2 * copyDuration)
  }

  /// - Parameter count: At least ``countWorthTiming``.
  @usableFromInline
  mutating func noteReplay(of count: Int, since beginning: Int64) {
    let duration = (MonotonicTime.now - beginning) * 1024 / Int64(count)
    duration1024 = max(1024, min(duration, 2 * duration1024))
  }

  /// So many mutations take much longer than to ask for the time.
  @inlinable
  static var countWorthTiming: Int { 64 }

  /// The nanoseconds that it probably takes to apply some mutations.
  func duration(of count: Int) -> Int64 { Int64(count) * duration1024 / 1024 }

  /// The largest capacity that is worth it.
  private func largestCapacity<Mutation>(_: Mutation.Type) -> Int {
    let worthwhile = copyDuration * 1024 / duration1024
    var largest = Self.leastBound
    while worthwhile > largest, largest < Self.greatestBound,
      2 * largest * MemoryLayout<Mutation>.stride <= Self.byteBound
    {
      largest *= 2
    }
    return largest
  }

  @inlinable
  static var leastBound: Int { 2048 }
  static var greatestBound: Int { 262_144 }
  static var byteBound: Int { 16 << 20 }

  /// Returns false if there may be no more mutations: the oldest ones have to be removed.
  mutating func tryGrow<Mutation>(_: Mutation.Type) -> Bool {
    let largest = largestCapacity(Mutation.self)
    if capacity >= largest { return false }
    resize(to: min(capacity * 4, largest), Mutation.self)
    return true
  }

  /// Gives back memory that was needed while a reader stayed in a state.
  mutating func shrinkIfSparse<Mutation>(_: Mutation.Type) {
    if capacity > Self.leastBound, count * 16 < capacity { resize(to: capacity / 4, Mutation.self) }
  }

  private mutating func resize<Mutation>(to new: Int, _: Mutation.Type) {
    let larger = UnsafeMutablePointer<Mutation>.allocate(capacity: new)
    for position in start..<end {
      (larger + position & (new - 1)).moveInitialize(from: entry(at: position, of: Mutation.self), count: 1)
    }
    entries.assumingMemoryBound(to: Mutation.self).deallocate()
    (entries, capacity) = (UnsafeMutableRawPointer(larger), new)
  }
}
