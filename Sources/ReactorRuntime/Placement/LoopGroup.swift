import ReactorCore

/// Several loops, and for each key one of them: the same for the same key, as long as the group lives.
///
/// ```swift
/// let group = try LoopGroup(name: "orders")
/// let order = Order(on: .group(group, key: id))
/// …
/// try group.shutdown(before: .now + .seconds(10))
/// ```
///
/// Reactors with the same key are on the same loop, so what one sends to another never waits for room. A
/// group that goes away without having been shut down ends in the background, after its last reactor.
public final class LoopGroup: Sendable {
  /// Named `name-0`, `name-1`, …; never empty.
  public let loops: [Loop]

  /// Starts the threads.
  ///
  /// Stops the program, with a sentence, if `count` is not positive, or differs from that of `processors`.
  ///
  /// - Parameters:
  ///   - name: What the names of the loops begin with.
  ///   - count: How many loops. Without it: as many as `processors`, or else as there are processors that this
  ///     process may use.
  ///   - waiting: As that of a ``Loop``. Other strategies than parking want a processor for each loop.
  ///   - turnLimit: As that of a ``Loop``.
  ///   - processors: For each loop the only processor that it may run on; nil leaves that to the system.
  ///   - jobCapacity: As that of a ``Loop``, for each.
  /// - Throws: `CoreError.outOfMemory`, or `CoreError.processorIsInvalid`; no thread is left then.
  // Inlinable for the sake of the threads' main function: see `LoopState.run()`.
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
    precondition(
      count > 0,
      """
      Problem: the group of loops "\(name)" is to have \(count) loops.
      Likely cause: the count was computed, or the list of processors is empty.
      Remedy: at least one; leave the parameter out for one per processor.
      """)
    precondition(
      processors == nil || processors?.count == count,
      """
      Problem: the group of loops "\(name)" is to have \(count) loops on \(processors?.count ?? 0) processors.
      Likely cause: both count and processors are given.
      Remedy: leave count out; name a processor twice to put two loops there.
      """)
  }

  /// The loop of a key. Any thread.
  ///
  /// For integers, strings, and what is represented by them, it is the same in each run of the program with
  /// the same number of loops; for other keys only in this one. Integers count by their value, of whatever
  /// width. Strings count by their bytes: who has some that are equal but composed differently (é as one
  /// scalar, or as two) brings them to one form first.
  ///
  /// - Complexity: O(1); O(n) in the length of a string.
  public func loop(for key: some Hashable) -> Loop {
    // The high half of the product: spread evenly over the loops, without a division.
    loops[Int(LoopKey.hash(of: key).multipliedFullWidth(by: UInt64(loops.count)).high)]
  }
}

extension LoopGroup: Closeable {
  /// ``Loop/shutdown()`` of all loops at the same time: what a reactor sends to another loop may be refused
  /// and reported. From inside one of the loops it does not wait for that one.
  public func shutdown() {
    beginClosing()
    for loop in loops { loop.shutdown() }
  }

  /// As ``shutdown()``, but does not wait longer than until that time.
  ///
  /// - Throws: As ``Loop/shutdown(before:)``; called from inside one of the loops, it waits for none.
  public func shutdown(before deadline: ContinuousClock.Instant) throws(ShutdownError) {
    beginClosing()
    if let inside = loops.first(where: { $0.state.runsTurnsHere }) { throw .insideItself(loop: inside.name) }
    try Shutdown.close(loops, before: deadline)
  }

  public func beginClosing() {
    for loop in loops { loop.beginClosing() }
  }

  public func finishClosing(before deadline: ContinuousClock.Instant) -> [Unfinished] {
    loops.flatMap { $0.finishClosing(before: deadline) }
  }
}

extension LoopGroup: RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { loops.count }
  public subscript(index: Int) -> Loop { loops[index] }
}

extension Placement {
  /// The loop of a group that the key belongs to: see ``LoopGroup/loop(for:)``.
  public static func group(_ group: LoopGroup, key: some Hashable) -> Placement {
    .loop(group.loop(for: key))
  }
}

/// The number behind a key, from which a group finds the key's loop.
///
/// Swift's own hash values differ between processes. For integers, strings, and what is represented by them,
/// this one does not.
enum LoopKey {
  static func hash(of key: some Hashable) -> UInt64 {
    var key: any Hashable = key
    if let erased = key as? AnyHashable, let base = erased.base as? any Hashable { key = base }
    return stableHash(of: key) ?? spread(UInt64(truncatingIfNeeded: key.hashValue))
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

  /// By its value, of whatever width it is.
  private static func hash(ofInteger integer: some BinaryInteger) -> UInt64 {
    if let small = Int64(exactly: integer) { return spread(UInt64(bitPattern: small)) }
    if let large = UInt64(exactly: integer) { return spread(large) }
    return hash(ofBytes: String(integer).utf8)
  }

  /// FNV-1a, then spread, since its high bits depend little on the last bytes.
  private static func hash(ofBytes bytes: some Sequence<UInt8>) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return spread(hash)
  }

  /// SplitMix64's last step: each bit of the number decides on each of the result.
  private static func spread(_ number: UInt64) -> UInt64 {
    var mixed = number &+ 0x9e37_79b9_7f4a_7c15
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
