import ReactorCore

/// Holds one disposable at a time: setting another ends the one before; once ended, so is what is set.
public final class SerialDisposable: Disposable {
  private struct Slot: Sendable {
    var current: (any Disposable)?
    var isDisposed = false
  }

  private let slot = SystemMutex(Slot())

  public init() {}

  /// The one that it holds; nil at first and after the end. Any thread.
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

  /// Whether it was ended. Any thread.
  public var isDisposed: Bool { slot.withLock { $0.isDisposed } }

  public func dispose() {
    let ended = slot.withLock { slot in
      slot.isDisposed = true
      return slot.current.take()
    }
    ended?.dispose()
  }
}
