import ReactorCore
import ReactorRuntime
import TestSupport

/// Records the errors of this test that reach the default handler. The others are passed to the handler that
/// was there before.
///
/// The process has one handler, and tests run at the same time. So each test adds itself to a list, and only
/// the first one sets the handler.
final class HookedErrors: Sendable {
  private struct Listener: Sendable {
    let isMine: @Sendable (any Error) -> Bool
    let record: Record<any Error>
  }

  private static let listeners = SystemMutex<[Listener]>([])
  private static let installed: Void = {
    let before = Hooks.defaultErrorHandler
    Hooks.defaultErrorHandler = { error in
      let mine = listeners.withLock { $0 }.filter { $0.isMine(error) }
      if mine.isEmpty { before(error) }
      for listener in mine { listener.record.append(error) }
    }
  }()

  private let record = Record<any Error>()

  init(_ isMine: @escaping @Sendable (any Error) -> Bool) {
    Self.installed
    Self.listeners.withLock { [record] in $0.append(Listener(isMine: isMine, record: record)) }
  }

  var errors: [any Error] { record.elements }

  /// Stops recording.
  func stop() -> [any Error] {
    Self.listeners.withLock { [record] in $0.removeAll { $0.record === record } }
    return record.elements
  }
}
