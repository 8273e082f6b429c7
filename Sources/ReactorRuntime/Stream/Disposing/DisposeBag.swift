/// Ends what was put into it when it goes away.
///
/// Any thread may add to it.
public final class DisposeBag: Sendable {
  private let members = CompositeDisposable()

  public init() {}

  deinit { members.dispose() }

  /// Adds one. Any thread.
  public func insert(_ disposable: any Disposable) { members.insert(disposable) }

  /// Adds several. Any thread.
  public func insert(_ disposables: any Disposable...) { insert(disposables) }

  /// Adds several. Any thread.
  public func insert(_ disposables: [any Disposable]) {
    for disposable in disposables { insert(disposable) }
  }
}
