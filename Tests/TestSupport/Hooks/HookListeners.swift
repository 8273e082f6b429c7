import ReactorCore

/// The tests that listen to a handler of which the process has one. They run at the same time, so each gets what it takes for its
/// own; what belongs to none of them is passed to the handler that was there before.
final class HookListeners<Value: Sendable>: Sendable {
  private struct Listener: Sendable {
    let isMine: @Sendable (Value) -> Bool
    let record: Record<Value>
  }

  private let present = SystemMutex<[Listener]>([])
  private let before: @Sendable (Value) -> Void

  /// - Parameter before: The handler that was there before.
  init(before: @escaping @Sendable (Value) -> Void) { self.before = before }

  func add(_ record: Record<Value>, for isMine: @escaping @Sendable (Value) -> Bool) {
    present.withLock { $0.append(Listener(isMine: isMine, record: record)) }
  }

  func remove(_ record: Record<Value>) { present.withLock { $0.removeAll { $0.record === record } } }

  /// What the process has as its handler.
  func receive(_ value: Value) {
    let mine = present.withLock { $0 }.filter { $0.isMine(value) }
    if mine.isEmpty { before(value) }
    for listener in mine { listener.record.append(value) }
  }
}
