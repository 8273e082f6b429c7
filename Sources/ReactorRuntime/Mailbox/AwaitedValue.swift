import ReactorCore

/// A value that one task waits for: the first of those that other threads have for it.
package struct AwaitedValue<Value: Sendable>: ~Copyable, Sendable {
  private enum Phase: Sendable {
    case new
    case waiting(SuspendedTask)
    case over(Value)
  }

  private let phase = SystemMutex(Phase.new)

  package init() {}

  /// The value; nil if it has not come. Any thread.
  package var current: Value? {
    phase.withLock { if case .over(let value) = $0 { value } else { nil } }
  }

  /// Suspends the task until the value has come. It stays on the executor of its caller. The task, once.
  package nonisolated(nonsending) func get() async -> Value {
    await SuspendedTask.suspend { task in
      phase.withLock { phase in
        if case .over = phase { return false }
        phase = .waiting(task)
        return true
      }
    }
    guard let value = current else { preconditionFailure("a task was resumed without a value") }
    return value
  }

  /// Sets the value, unless there is one. Any thread.
  ///
  /// - Returns: Whether this is the first one.
  @discardableResult
  package func set(_ value: Value) -> Bool {
    let before = phase.withLock { phase -> Phase in
      defer { if case .over = phase {} else { phase = .over(value) } }
      return phase
    }
    switch before {
    case .new: return true
    case .waiting(let task):
      task.resume()
      return true
    case .over: return false
    }
  }
}
