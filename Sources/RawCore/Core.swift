/// A core: one implementation of the lock-free parts.
///
/// There are two. `CCore`, in ReactorCore, is the C core spelled in Swift. `SwiftCore`, in PureSwiftCore, is the same
/// algorithms written with `Synchronization` atomics and no C. The trait `PureSwiftCore` chooses the one that ReactorCore
/// is built on (`CurrentCore`); these protocols make the compiler check that the two are interchangeable.
///
/// The `Raw…` protocols deal in cursors and raw memory. Use the typed owners of ReactorCore instead: `Ring`, `Lanes`,
/// `Trampoline`, `OwnedState` and `EventCount`.
public protocol Core: Sendable {
  associatedtype Ring: RawRing
  associatedtype Lanes: RawLanes
  associatedtype Trampoline: RawTrampoline
  associatedtype EventCount: RawEventCount

  /// "C" or "Swift", for reports.
  static var name: String { get }

  /// A number that no other living thread has. It is larger than 16, and its low four bits are zero.
  static var threadToken: UInt64 { get }

  /// Tells the processor that this is a spin loop; takes about 20 ns.
  static func pause()

  /// The frequent side of an asymmetric fence: orders a publication before a load of what another thread may have
  /// written before it called ``heavyFence()``. Costs nothing where the heavy fence does the work of both sides, and
  /// where there is no such pair.
  static func lightFence()

  /// Whether the core has an asymmetric fence.
  static var hasFences: Bool { get }

  /// The rare side of ``lightFence()``.
  ///
  /// - Returns: Whether it ordered anything. If not, neither side did, and the caller must wait for the other side's
  ///   publication instead.
  static func heavyFence() -> Bool
}

extension Core {
  /// Pauses `count` times.
  @inlinable
  public static func pause(times count: Int) {
    for _ in 0..<count { pause() }
  }
}

/// Something that a core made: a reference to raw memory, which its single owner destroys once.
public protocol RawObject: Sendable {
  /// Frees the memory. No thread may use the object afterwards.
  func destroy()
}

/// The size of a cache line as the layouts of both cores count it: two lines of the processor, since the adjacent-line
/// prefetcher of x86 moves lines in pairs.
@inlinable
public var cacheLineSize: Int { 128 }
