import ReactorRuntime

/// Records the errors of this test that reach the default handler: see ``HookListeners``.
public final class HookedErrors: Sendable {
  private static let listeners = {
    let listeners = HookListeners<any Error>(before: Hooks.defaultErrorHandler)
    Hooks.defaultErrorHandler = listeners.receive
    return listeners
  }()

  private let record = Record<any Error>()

  public init(_ isMine: @escaping @Sendable (any Error) -> Bool) { Self.listeners.add(record, for: isMine) }

  public var errors: [any Error] { record.elements }

  /// Stops recording.
  public func stop() -> [any Error] {
    Self.listeners.remove(record)
    return record.elements
  }
}
