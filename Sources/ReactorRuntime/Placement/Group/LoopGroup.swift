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
