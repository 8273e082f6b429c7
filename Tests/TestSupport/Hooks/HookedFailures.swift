import ReactorRuntime

/// Records the failures of this test that reach the default handler: see ``HookListeners``.
public final class HookedFailures: Sendable {
  private static let listeners = {
    let listeners = HookListeners<Failure>(before: Hooks.defaultFailureHandler)
    Hooks.defaultFailureHandler = listeners.receive
    return listeners
  }()

  private let record = Record<Failure>()

  public init(_ isMine: @escaping @Sendable (Failure) -> Bool) { Self.listeners.add(record, for: isMine) }

  deinit { Self.listeners.remove(record) }

  public var failures: [Failure] { record.elements }
}
