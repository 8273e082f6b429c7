import ReactorCore

/// Several loops, with one of them for each key: always the same loop for the same key.
///
/// ```swift
/// let group = try LoopGroup(name: "orders")
/// let order = Order(on: .group(group, key: id))
/// …
/// try group.shutdown(before: .now + .seconds(10))
/// ```
///
/// Reactors with the same key are on the same loop, so a send from one of them to another never waits for room.
///
/// ``shutdown()`` ends the loops. A group that goes away without it, after its last reactor, ends in the background.
public final class LoopGroup: Sendable {
  /// Named `name-0`, `name-1`, …; never empty.
  public let loops: [Loop]

  /// Starts the threads. Any thread.
  ///
  /// Stops the program, with a message, if `count` is not positive, or differs from that of `processors`.
  ///
  /// - Parameters:
  ///   - name: What the names of the loops begin with.
  ///   - count: How many loops. If nil: as many as `processors`, or if that is nil, too, as many as this process may
  ///     use. In a container with a limit (a control group of version 2), that is the limit, rounded up, if it is less.
  ///   - waiting: What each thread does while it has nothing to do. Strategies other than parking need a processor for
  ///     each loop.
  ///   - turnLimit: After how many actions of one reactor the next gets its turn.
  ///   - processors: For each loop, the only processor that it may run on; nil leaves that to the system. See
  ///     ``Loop/init(name:waiting:turnLimit:processor:jobCapacity:)``.
  ///   - jobCapacity: How many jobs and timers may wait for each loop.
  /// - Throws: `CoreError.outOfMemory`, or `CoreError.processorIsInvalid`; then the threads have ended. If the system gives no thread,
  ///   the program stops with a message.
  @inlinable
  public init(
    name: String = "reactor-loop", count: Int? = nil, waiting: WaitStrategy = .parking, turnLimit: Int = 1024,
    processors: [Int]? = nil, jobCapacity: Int = 1 << 20
  ) throws(CoreError) {
    let count = count ?? processors?.count ?? DedicatedThread.processorCount
    Self.check(count, processors, of: name)
    var loops: [Loop] = []
    do {
      for index in 0..<count {
        loops.append(
          try Loop(
            name: "\(name)-\(index)", waiting: waiting, turnLimit: turnLimit, processor: processors?[index],
            jobCapacity: jobCapacity))
      }
    } catch {
      for loop in loops { loop.shutdown() }
      throw error
    }
    self.loops = loops
  }

  @usableFromInline
  static func check(_ count: Int, _ processors: [Int]?, of name: String) {
    guard count > 0 else {
      fatalError(
        """
        Problem: the group of loops "\(name)" is to have \(count) loops.
        Likely cause: the count was computed, or the list of processors is empty.
        Remedy: at least one; leave the parameter out for one per processor.
        """)
    }
    guard processors == nil || processors?.count == count else {
      fatalError(
        """
        Problem: the group of loops "\(name)" is to have \(count) loops on \(processors?.count ?? 0) processors.
        Likely cause: both count and processors are given.
        Remedy: leave count out; name a processor twice to put two loops there.
        """)
    }
  }

  /// The loop of a key. Any thread.
  ///
  /// If the key is an integer or a string, or its raw value is, the loop is the same in each run of the program with
  /// the same number of loops. For other keys it may differ from run to run. Integers of different types and the same
  /// value have the same loop. Strings are compared by their bytes, so normalize them first if equal ones may be
  /// composed differently (é as one scalar, or as two). A raw value counts in place of its key: so if the key has an `==` of its own
  /// that ignores, say, the case, make equal keys with equal raw values.
  ///
  /// - Complexity: O(1); O(n) in the length of a string.
  public func loop(for key: some Hashable) -> Loop {
    // The high half of the product spreads the hashes evenly over the loops, without a division.
    loops[Int(LoopKey.hash(of: key).multipliedFullWidth(by: UInt64(loops.count)).high)]
  }
}

extension LoopGroup: Closeable {
  /// Shuts all loops down at the same time, like ``Loop/shutdown()``: what a reactor sends to another loop may be refused
  /// and reported. Any thread; called from inside one of the loops, it waits for none of them, since another one may be
  /// waiting for that one.
  public func shutdown() {
    beginClosing()
    if loops.contains(where: { $0.state.runsTurnsHere }) { return }
    for loop in loops { loop.shutdown() }
  }

  /// Like ``shutdown()``, but waits no longer than until that time.
  ///
  /// - Throws: Like ``Loop/shutdown(before:)``. Called from inside one of the loops, it waits for none of them.
  public func shutdown(before deadline: ContinuousClock.Instant) throws(ShutdownError) {
    beginClosing()
    if let inside = loops.first(where: { $0.state.runsTurnsHere }) { throw .insideItself(loop: inside.name) }
    try Shutdown.close(loops, before: deadline)
  }

  public func beginClosing() {
    for loop in loops { loop.beginClosing() }
  }

  /// Waits for the end of all loops; see ``Closeable``. Any thread; called from inside one of the loops, it waits for none of them.
  public func finishClosing(before deadline: ContinuousClock.Instant) -> [Unfinished] {
    // Another loop may be waiting for this one.
    if let inside = loops.first(where: { $0.state.runsTurnsHere }) {
      return inside.finishClosing(before: deadline)
    }
    return loops.flatMap { $0.finishClosing(before: deadline) }
  }
}

extension LoopGroup: RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { loops.count }
  public subscript(index: Int) -> Loop { loops[index] }
}

/// The hash of a key, from which a group finds the key's loop.
///
/// Swift's own hash values differ between processes. For integers and strings, and for values with such a raw value,
/// this one does not.
enum LoopKey {
  static func hash(of key: some Hashable) -> UInt64 {
    // The usual key, before the casts to protocols, which take longer than all the rest of making a reactor.
    if let integer = key as? Int { return mix(UInt64(bitPattern: Int64(integer))) }
    var key: any Hashable = key
    if let erased = key as? AnyHashable, let base = erased.base as? any Hashable { key = base }
    return stableHash(of: key) ?? mix(UInt64(truncatingIfNeeded: key.hashValue))
  }

  private static func stableHash(of key: any Hashable) -> UInt64? {
    switch key {
    case let integer as any BinaryInteger: hash(ofInteger: integer)
    case let string as any StringProtocol: hash(ofBytes: String(string).utf8)
    case let value as any RawRepresentable: hash(ofRawValue: value)
    default: nil
    }
  }

  private static func hash(ofRawValue value: some RawRepresentable) -> UInt64? {
    (value.rawValue as? any Hashable).flatMap { stableHash(of: $0) }
  }

  /// Depends on the value only, not on the width of the type.
  private static func hash(ofInteger integer: some BinaryInteger) -> UInt64 {
    if let small = Int64(exactly: integer) { return mix(UInt64(bitPattern: small)) }
    if let large = UInt64(exactly: integer) { return mix(large) }
    return hash(ofBytes: String(integer).utf8)
  }

  /// FNV-1a, then mixed, since its high bits depend little on the last bytes.
  private static func hash(ofBytes bytes: some Sequence<UInt8>) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return mix(hash)
  }

  /// The last step of SplitMix64: each bit of the result depends on each bit of the number.
  private static func mix(_ number: UInt64) -> UInt64 {
    var mixed = number &+ 0x9e37_79b9_7f4a_7c15
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
