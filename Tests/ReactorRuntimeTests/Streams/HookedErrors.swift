import ReactorCore
import ReactorRuntime
import TestSupport

/// Records those errors that reach the default handler and are of this test; the others go where they went
/// before.
///
/// The handler is one for the whole process, and tests run at the same time: so each adds itself to those
/// that are asked, and only the first sets the handler.
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

  /// Stops listening.
  func stop() -> [any Error] {
    Self.listeners.withLock { [record] in $0.removeAll { $0.record === record } }
    return record.elements
  }
}
