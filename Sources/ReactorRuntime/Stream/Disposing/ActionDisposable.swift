import ReactorCore

/// Calls a closure at the first disposal.
@usableFromInline
final class ActionDisposable: Disposable {
  // Taken out at the disposal: whoever keeps the disposable must not keep what the closure captures.
  private let action: SystemMutex<(@Sendable () -> Void)?>

  @usableFromInline
  init(_ action: @escaping @Sendable () -> Void) { self.action = SystemMutex(action) }

  @usableFromInline
  func dispose() {
    let action = action.withLock { $0.take() }
    action?()
  }
}
