import ReactorCore

/// Ends any number of others with itself; what is added afterwards is ended at once.
public final class CompositeDisposable: Disposable {
  /// Where a member stands.
  public struct Key: Sendable { fileprivate let number: Int }

  private struct Members: Sendable {
    var entries: [Int: any Disposable] = [:]
    var next = 0
    var isDisposed = false
  }

  private let members = SystemMutex(Members())

  public init() {}

  public init(_ disposables: [any Disposable]) {
    for disposable in disposables { _ = insert(disposable) }
  }

  /// Adds a member. Any thread.
  ///
  /// - Returns: Where it stands; nil if everything was ended before, and now this is too.
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

  /// Ends a member and forgets it. Any thread.
  public func remove(for key: Key) {
    let removed = members.withLock { $0.entries.removeValue(forKey: key.number) }
    removed?.dispose()
  }

  /// How many members there are. Any thread; may be stale at once.
  public var count: Int { members.withLock { $0.entries.count } }

  /// Whether it was ended. Any thread.
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
