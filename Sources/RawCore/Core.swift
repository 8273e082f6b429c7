/// A core: one implementation of the lock-free parts.
///
/// There are two. `CCore`, in ReactorCore, calls the C core. `SwiftCore`, in PureSwiftCore, implements the same algorithms
/// with `Synchronization` atomics and without C. The trait `PureSwiftCore` chooses the one that ReactorCore is built on
/// (`CurrentCore`). These protocols make the compiler check that the two are interchangeable.
///
/// The `Raw…` protocols use cursors and raw memory. Use the typed owners of ReactorCore instead: `Ring`, `Lanes`,
/// `Trampoline`, `OwnedState` and `EventCount`.
public protocol Core: Sendable {
  associatedtype Ring: RawRing
  associatedtype Lanes: RawLanes
  associatedtype Trampoline: RawTrampoline
  associatedtype EventCount: RawEventCount

  /// The name for reports: "C" or "Swift".
  static var name: String { get }

  /// A number that identifies the calling thread among all living threads. It is larger than 16, and its low four bits
  /// are zero.
  static var threadToken: UInt64 { get }

  /// Tells the processor that the caller is in a spin loop. Takes about 20 ns.
  static func pause()

  /// The frequent side of an asymmetric fence. It orders the caller's earlier publication before its later load of what
  /// another thread wrote before that thread's ``heavyFence()``.
  ///
  /// Costs no instruction where the heavy fence does the work for both sides, and where the core has no asymmetric fence.
  static func lightFence()

  /// As ``lightFence()``, for a caller that has run a sequentially consistent read-modify-write since that publication. Costs no
  /// instruction on x86-64, where that is a full fence, and where the core has no asymmetric fence.
  static func lightFenceAfterExchange()

  /// Whether the core has an asymmetric fence.
  static var hasFences: Bool { get }

  /// The rare side of the asymmetric fence; see ``lightFence()``.
  ///
  /// - Returns: Whether it ordered anything. After false, the light fence ordered nothing either, and the caller must
  ///   wait for the other side's publication instead.
  static func heavyFence() -> Bool
}

extension Core {
  /// Pauses `count` times.
  @inlinable
  public static func pause(times count: Int) {
    for _ in 0..<count { pause() }
  }
}

/// An object that a core created: a reference to raw memory. Its single owner destroys it exactly once.
public protocol RawObject: Sendable {
  /// Frees the memory. No thread may use the object afterwards.
  func destroy()
}

/// The size of a cache line in the layouts of both cores: two lines of the processor, because the adjacent-line
/// prefetcher of x86 loads lines in pairs.
@inlinable
public var cacheLineSize: Int { 128 }
