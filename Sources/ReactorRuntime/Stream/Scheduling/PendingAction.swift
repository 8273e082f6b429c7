import ReactorCore

/// An action that is to run once, unless it is disposed before.
///
/// Whichever comes first takes the closure out. So a queue may keep this object, empty, for as long as it
/// likes.
final class PendingAction: Disposable {
  private let action: SystemMutex<(@Sendable () -> Void)?>

  init(_ action: @escaping @Sendable () -> Void) { self.action = SystemMutex(action) }

  func run() { take()?() }

  func dispose() { _ = take() }

  private func take() -> (@Sendable () -> Void)? { action.withLock { $0.take() } }
}
