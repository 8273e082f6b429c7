import ReactorCore
import Synchronization

/// Something that can be ended: a subscription, a timer.
public protocol Disposable: Sendable {
  /// Ends it. Any thread, also from inside what it ends; further calls do nothing.
  ///
  /// After this has returned no delivery begins. A delivery that another thread has begun may still be
  /// running.
  func dispose()
}

/// A ``Disposable`` that says whether it was disposed of.
public protocol Cancelable: Disposable {
  /// Whether it was disposed of. Any thread. A disposal by another thread may be seen a little later.
  var isDisposed: Bool { get }
}

extension Disposable {
  /// Adds this to a bag, which disposes of it when the bag itself goes away. Any thread.
  @inlinable
  public func disposed(by bag: DisposeBag) { bag.insert(self) }
}

/// Ways to make a ``Disposable``.
public enum Disposables {
  /// Returns a disposable that has nothing to end.
  @inlinable
  public static func create() -> any Disposable { NoDisposable.instance }

  /// Returns a disposable that calls `action` once, on the thread that disposes, and then releases it.
  @inlinable
  public static func create(with action: @escaping @Sendable () -> Void) -> any Disposable {
    ActionDisposable(action)
  }

  /// Returns a disposable that disposes of all of these, in order.
  public static func create(_ disposables: any Disposable...) -> any Disposable {
    CompositeDisposable(disposables)
  }

  /// Returns a disposable that disposes of all of these, in order.
  public static func create(_ disposables: [any Disposable]) -> any Disposable {
    CompositeDisposable(disposables)
  }
}

@usableFromInline
struct NoDisposable: Disposable {
  @usableFromInline static let instance = NoDisposable()
  @usableFromInline func dispose() {}
}

/// Calls a closure at the first disposal.
@usableFromInline
final class ActionDisposable: Disposable {
  // Taken out at the disposal: code that keeps the disposable must not keep what the closure captures.
  private let action: SystemMutex<(@Sendable () -> Void)?>

  @usableFromInline
  init(_ action: @escaping @Sendable () -> Void) { self.action = SystemMutex(action) }

  @usableFromInline
  func dispose() {
    let action = action.withLock { $0.take() }
    action?()
  }
}

/// Holds the disposable that it disposes of: set once, and perhaps only after the disposal.
///
/// A subscription often ends while it is being made, before there is anything to dispose of; then what is set
/// afterwards is disposed of at once.
public class SingleAssignmentDisposable: Cancelable, @unchecked Sendable {
  // Inside of the library it also keeps the grammar of events: it notes the first stop event.

  // Unchecked: `held` is written before HELD is set. It is read by one thread only: the one that finds HELD
  // set when it sets DISPOSED, or that finds DISPOSED set when it sets HELD. Both are read-modify-writes of
  // one variable that acquire and release, so the later one sees what came before the earlier one.
  private var held: (any Disposable)?
  @usableFromInline let flags = Atomic<UInt8>(0)

  @usableFromInline static var isHeldFlag: UInt8 { 1 }
  @usableFromInline static var isDisposedFlag: UInt8 { 2 }
  /// A stop event was passed on.
  @usableFromInline static var isStoppedFlag: UInt8 { 4 }

  /// Creates one that holds nothing.
  public init() {}

  /// Sets what is disposed of; if this was disposed of before, disposes of it at once. Any thread, once.
  ///
  /// - Parameter disposable: What is disposed of with this.
  /// - Precondition: Nothing was set before.
  public final func setDisposable(_ disposable: any Disposable) {
    // Before `held` is written, which the disposing thread may be reading. Relaxed: it is a check for mistakes only.
    guard flags.load(ordering: .relaxed) & Self.isHeldFlag == 0 else {
      fatalError("a single-assignment disposable was assigned twice")
    }
    hold(disposable)
  }

  /// Sets what is disposed of. Any thread, once.
  @usableFromInline
  final func hold(_ disposable: any Disposable) {
    held = disposable
    let before = flags.bitwiseOr(Self.isHeldFlag, ordering: .acquiringAndReleasing).oldValue
    guard before & Self.isHeldFlag == 0 else {
      fatalError("a single-assignment disposable was assigned twice")
    }
    if before & Self.isDisposedFlag != 0 { held.take()?.dispose() }
  }

  /// Whether nothing is passed on any more. Any thread.
  // Relaxed: nothing else is read because of it. A disposal by another thread may be seen a little later, as
  // `Disposable.dispose()` says.
  @inlinable
  final var isOver: Bool { flags.load(ordering: .relaxed) & (Self.isDisposedFlag | Self.isStoppedFlag) != 0 }

  /// Whether an event is to be passed on. Notes a stop event, after which nothing is admitted. Called by the
  /// source, one event at a time.
  // Relaxed: as above; two stop events cannot come at the same time.
  @inlinable
  final func tryPass<Element>(_ event: Event<Element>) -> Bool {
    if case .next = event { return !isOver }
    let before = flags.bitwiseOr(Self.isStoppedFlag, ordering: .relaxed).oldValue
    return before & (Self.isDisposedFlag | Self.isStoppedFlag) == 0
  }

  /// Whether it was disposed of. Any thread.
  @inlinable public final var isDisposed: Bool { flags.load(ordering: .relaxed) & Self.isDisposedFlag != 0 }

  public final func dispose() {
    let before = flags.bitwiseOr(Self.isDisposedFlag, ordering: .acquiringAndReleasing).oldValue
    if before & Self.isDisposedFlag == 0, before & Self.isHeldFlag != 0 { held.take()?.dispose() }
  }
}
