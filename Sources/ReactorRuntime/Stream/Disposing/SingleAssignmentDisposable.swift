import Synchronization

/// Holds what it ends: told once, and maybe only after it was disposed.
///
/// A subscription often ends while it is being made, before there is anything to dispose; then whatever is
/// set afterwards is disposed at once.
@usableFromInline
class SingleAssignmentDisposable: Disposable, @unchecked Sendable {
  // Unchecked: `held` is written before HELD is set and read by the one thread that finds HELD set when it
  // sets DISPOSED, or that finds DISPOSED when it sets HELD. Both are read-modify-writes that acquire and
  // release.
  private var held: (any Disposable)?
  @usableFromInline let flags = Atomic<UInt8>(0)

  @usableFromInline static var isHeldFlag: UInt8 { 1 }
  @usableFromInline static var isDisposedFlag: UInt8 { 2 }
  /// A stop event was passed on.
  @usableFromInline static var isStoppedFlag: UInt8 { 4 }

  @usableFromInline
  init() {}

  /// Any thread, once.
  @usableFromInline
  final func hold(_ disposable: any Disposable) {
    held = disposable
    let before = flags.bitwiseOr(Self.isHeldFlag, ordering: .acquiringAndReleasing).oldValue
    precondition(before & Self.isHeldFlag == 0, "a single-assignment disposable was assigned twice")
    if before & Self.isDisposedFlag != 0 { held.take()?.dispose() }
  }

  /// Whether nothing is passed on any more. Any thread.
  @inlinable
  final var isOver: Bool { flags.load(ordering: .relaxed) & (Self.isDisposedFlag | Self.isStoppedFlag) != 0 }

  /// Whether an event is to be passed on; a stop event is noted, and its like are not admitted again. The
  /// source.
  @inlinable
  final func admits<Element>(_ event: Event<Element>) -> Bool {
    if case .next = event { return !isOver }
    let before = flags.bitwiseOr(Self.isStoppedFlag, ordering: .relaxed).oldValue
    return before & (Self.isDisposedFlag | Self.isStoppedFlag) == 0
  }

  /// Whether it was disposed. Any thread.
  @inlinable final var isDisposed: Bool { flags.load(ordering: .relaxed) & Self.isDisposedFlag != 0 }

  @usableFromInline
  final func dispose() {
    let before = flags.bitwiseOr(Self.isDisposedFlag, ordering: .acquiringAndReleasing).oldValue
    if before & Self.isDisposedFlag == 0, before & Self.isHeldFlag != 0 { held.take()?.dispose() }
  }
}
