import ReactorCore
import ReactorRuntime

/// A list that any thread adds to, and whose growth can be waited for.
final class Recording<Item: Sendable>: Sendable {
  private struct Waiter: Sendable {
    let number: Int
    let count: Int
    let continuation: CheckedContinuation<Bool, Never>
  }

  private struct State: Sendable {
    var items: [Item] = []
    /// How many of the items count.
    var count = 0
    var isOver = false
    var waiters: [Waiter] = []
    var asked = 0
    /// The numbers of those who have asked and not given up: some may before they are among the waiters.
    var patient: Set<Int> = []

    /// Takes out those who need wait no longer.
    mutating func takeWaiters(where isDone: (Waiter) -> Bool) -> [Waiter] {
      let taken = waiters.filter(isDone)
      waiters.removeAll(where: isDone)
      return taken
    }
  }

  private let state = SystemMutex(State())

  var items: [Item] { state.withLock { $0.items } }

  /// - Parameters:
  ///   - counts: Whether those count it who wait for a number.
  ///   - isLast: Whether nothing follows.
  func append(_ item: Item, counts: Bool = true, isLast: Bool = false) {
    let (count, done) = state.withLock { state in
      state.items.append(item)
      if counts { state.count += 1 }
      state.isOver = state.isOver || isLast
      let (count, isOver) = (state.count, state.isOver)
      return (count, state.takeWaiters { isOver || $0.count <= count })
    }
    for waiter in done { waiter.continuation.resume(returning: waiter.count <= count) }
  }

  /// Waits until so many items count; false if that is not so in time, cannot be any more, or the task is
  /// cancelled.
  func wait(forCount count: Int, timeout: Duration) async -> Bool {
    let number = state.withLock { state in
      state.asked += 1
      state.patient.insert(state.asked)
      return state.asked
    }
    let timer = ConcurrentDispatchQueueScheduler.shared.schedule(after: timeout) { self.giveUp(number) }
    defer {
      timer.dispose()
      giveUp(number)
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        add(Waiter(number: number, count: count, continuation: continuation))
      }
    } onCancel: {
      giveUp(number)
    }
  }

  private func add(_ waiter: Waiter) {
    let answer: Bool? = state.withLock { state in
      if waiter.count <= state.count { return true }
      if state.isOver || !state.patient.contains(waiter.number) { return false }
      state.waiters.append(waiter)
      return nil
    }
    if let answer { waiter.continuation.resume(returning: answer) }
  }

  private func giveUp(_ number: Int) {
    let done = state.withLock { state in
      state.patient.remove(number)
      return state.takeWaiters { $0.number == number }
    }
    for waiter in done { waiter.continuation.resume(returning: false) }
  }
}
