import ReactorCore
import ReactorRuntime
import TestSupport

/// Records the warnings about one type of reactor, and passes others on to the previous handler, as `HookedErrors` does
/// for errors.
final class HookedWarnings: Sendable {
  private struct Listener: Sendable {
    let reactor: String
    let record: Record<Warning>
  }

  private static let listeners = SystemMutex<[Listener]>([])
  private static let installed: Void = {
    let before = Hooks.warningHandler
    Hooks.warningHandler = { warning in
      let mine = listeners.withLock { $0 }.filter { $0.reactor == warning.reactor }
      if mine.isEmpty { before(warning) }
      for listener in mine { listener.record.append(warning) }
    }
  }()

  private let record = Record<Warning>()

  init(about reactor: any AnyObject.Type) {
    Self.installed
    let listener = Listener(reactor: String(reflecting: reactor), record: record)
    Self.listeners.withLock { $0.append(listener) }
  }

  deinit {
    Self.listeners.withLock { [record] in $0.removeAll { $0.record === record } }
  }

  var warnings: [Warning] { record.elements }
  /// The kinds of the warnings, each once, in the order of their first occurrence. Long turns are left out, because any
  /// turn may be long on a busy machine.
  var kinds: [Warning.Kind] {
    warnings.reduce(into: []) { kinds, warning in
      if warning.kind != .longTurn, !kinds.contains(warning.kind) { kinds.append(warning.kind) }
    }
  }
  var hasLongTurn: Bool { warnings.contains { $0.kind == .longTurn } }
}
