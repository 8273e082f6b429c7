/// Something that can be ended: a subscription, a timer.
public protocol Disposable: Sendable {
  /// Ends it. Any thread, also from inside what it ends; calling it again does nothing.
  ///
  /// After this has returned no delivery begins; one that another thread has begun may still be running.
  func dispose()
}

/// Ways to make a ``Disposable``.
public enum Disposables {
  /// One that has nothing to end.
  @inlinable
  public static func create() -> any Disposable { NoDisposable.instance }

  /// One that calls `action` once, and then lets go of it.
  @inlinable
  public static func create(with action: @escaping @Sendable () -> Void) -> any Disposable {
    ActionDisposable(action)
  }

  /// One that ends all of these.
  public static func create(_ disposables: any Disposable...) -> any Disposable {
    CompositeDisposable(disposables)
  }

  /// One that ends all of these.
  public static func create(_ disposables: [any Disposable]) -> any Disposable {
    CompositeDisposable(disposables)
  }
}

extension Disposable {
  /// Hands this over to a bag, which ends it when the bag itself goes away.
  @inlinable
  public func disposed(by bag: DisposeBag) { bag.insert(self) }
}

@usableFromInline
struct NoDisposable: Disposable {
  @usableFromInline static let instance = NoDisposable()
  @usableFromInline func dispose() {}
}
