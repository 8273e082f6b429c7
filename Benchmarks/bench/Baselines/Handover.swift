import Dispatch
import Synchronization

/// A value that a task hands to a thread which sleeps until it is there.
final class Handover<Value: Sendable>: Sendable {
  private let value = Mutex<Value?>(nil)
  private let isThere = DispatchSemaphore(value: 0)

  func give(_ given: Value) {
    value.withLock { $0 = given }
    isThere.signal()
  }

  /// To be called once.
  func wait() -> Value {
    isThere.wait()
    guard let given = value.withLock({ $0 }) else { preconditionFailure("signalled without a value") }
    return given
  }
}

extension Handover {
  /// Runs `body` in a task and sleeps until it has a result. Never on a thread of the tasks' own pool.
  static func blocking(_ body: @escaping @Sendable () async -> Value) -> Value {
    let result = Handover()
    Task.detached { result.give(await body()) }
    return result.wait()
  }
}
