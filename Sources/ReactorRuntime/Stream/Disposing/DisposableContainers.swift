import ReactorCore
import Synchronization

// Disposing of a member may run foreign code, so all of these dispose after their lock.

/// Holds any number of disposables and disposes of them with itself. What is added afterwards is disposed of
/// at once.
public final class CompositeDisposable: Cancelable {
  /// Identifies a member.
  public struct Key: Sendable { fileprivate let number: Int }

  /// RxSwift's name for ``Key``.
  public typealias DisposeKey = Key

  private struct Members: Sendable {
    var entries: [Int: any Disposable] = [:]
    var next = 0
    var isDisposed = false
  }

  private let members = SystemMutex(Members())

  /// Creates one without members.
  public init() {}

  /// Creates one with members, which are disposed of in that order.
  public init(_ disposables: [any Disposable]) {
    for disposable in disposables { _ = insert(disposable) }
  }

  /// Creates one with members, which are disposed of in that order.
  public convenience init(disposables: [any Disposable]) { self.init(disposables) }

  /// Creates one with members, which are disposed of in that order.
  public convenience init(
    _ first: any Disposable, _ second: any Disposable, _ others: any Disposable...
  ) { self.init([first, second] + others) }

  /// Adds a member. Any thread.
  ///
  /// - Returns: The key by which to remove it; nil if everything was disposed of before, and now this is too.
  @discardableResult
  public func insert(_ disposable: any Disposable) -> Key? {
    let key: Key? = members.withLock { members in
      if members.isDisposed { return nil }
      members.next += 1
      members.entries[members.next] = disposable
      return Key(number: members.next)
    }
    if key == nil { disposable.dispose() }
    return key
  }

  /// Removes a member and disposes of it. Any thread.
  public func remove(for key: Key) {
    let removed = members.withLock { $0.entries.removeValue(forKey: key.number) }
    removed?.dispose()
  }

  /// How many members there are. Any thread; may be stale at once.
  public var count: Int { members.withLock { $0.entries.count } }

  /// Whether it was disposed of. Any thread.
  public var isDisposed: Bool { members.withLock { $0.isDisposed } }

  public func dispose() {
    let entries = members.withLock { members in
      members.isDisposed = true
      defer { members.entries = [:] }
      return members.entries
    }
    for (_, disposable) in entries.sorted(by: { $0.key < $1.key }) { disposable.dispose() }
  }
}

/// Holds one disposable at a time. Setting another disposes of the one before; after the disposal, what is
/// set is disposed of at once.
public final class SerialDisposable: Cancelable {
  private struct Slot: Sendable {
    var current: (any Disposable)?
    var isDisposed = false
  }

  private let slot = SystemMutex(Slot())

  /// Creates one that holds nothing.
  public init() {}

  /// What it holds; nil at first and after the disposal. Any thread may read and set it.
  public var disposable: (any Disposable)? {
    get { slot.withLock { $0.current } }
    set {
      let ended: (any Disposable)? = slot.withLock { slot in
        if slot.isDisposed { return newValue }
        defer { slot.current = newValue }
        return slot.current
      }
      ended?.dispose()
    }
  }

  /// Whether it was disposed of. Any thread.
  public var isDisposed: Bool { slot.withLock { $0.isDisposed } }

  public func dispose() {
    let ended = slot.withLock { slot in
      slot.isDisposed = true
      return slot.current.take()
    }
    ended?.dispose()
  }
}

/// Notes that it was disposed of, for code that checks it.
public final class BooleanDisposable: Cancelable {
  private let disposed: Atomic<Bool>

  /// Creates one.
  ///
  /// - Parameter isDisposed: Whether it counts as disposed of from the beginning.
  public init(isDisposed: Bool = false) { disposed = Atomic(isDisposed) }

  /// Whether it was disposed of. Any thread. If so, what the disposing thread did before is visible.
  // Acquire, and release in `dispose()`: code may use the flag to hand something over.
  public var isDisposed: Bool { disposed.load(ordering: .acquiring) }

  public func dispose() { disposed.store(true, ordering: .releasing) }
}

/// Disposes of its members when it goes away.
public final class DisposeBag: Sendable {
  private let members = CompositeDisposable()

  /// Creates an empty bag.
  public init() {}

  deinit { members.dispose() }

  /// Adds a member. Any thread.
  public func insert(_ disposable: any Disposable) { members.insert(disposable) }

  /// Adds several members. Any thread.
  public func insert(_ disposables: any Disposable...) { insert(disposables) }

  /// Adds several members. Any thread.
  public func insert(_ disposables: [any Disposable]) {
    for disposable in disposables { insert(disposable) }
  }
}
