import ReactorRuntime

/// Records the warnings about one type of reactor: see ``HookListeners``.
public final class HookedWarnings: Sendable {
  private static let listeners = {
    let listeners = HookListeners<Warning>(before: Hooks.warningHandler)
    Hooks.warningHandler = listeners.receive
    return listeners
  }()

  private let record = Record<Warning>()

  public init(about reactor: any AnyObject.Type) {
    let name = String(reflecting: reactor)
    Self.listeners.add(record) { $0.reactor == name }
  }

  deinit { Self.listeners.remove(record) }

  public var warnings: [Warning] { record.elements }
  /// The kinds of the warnings, each once, in the order of their first occurrence. Long turns are left out, because any
  /// turn may be long on a busy machine.
  public var kinds: [Warning.Kind] {
    warnings.reduce(into: []) { kinds, warning in
      if warning.kind != .longTurn, !kinds.contains(warning.kind) { kinds.append(warning.kind) }
    }
  }
  public var hasLongTurn: Bool { warnings.contains { $0.kind == .longTurn } }
}
