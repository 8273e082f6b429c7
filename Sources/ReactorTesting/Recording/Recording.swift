import ReactorCore
import ReactorRuntime

/// A list to which any thread appends, with waiting for a number of items.
final class Recording<Item: Sendable>: Sendable {
  private struct Waiter: Sendable {
    let number: Int
    let count: Int
    let continuation: CheckedContinuation<Bool, Never>
  }

  private struct State: Sendable {
    var items: [Item] = []
    /// The number of items that count towards the number that waiters expect.
    var count = 0
    /// The first item of which it was said that none follows. Others may follow all the same.
    var end: Item?
    var waiters: [Waiter] = []
    var lastNumber = 0
    /// The numbers of the waits that have not ended. A wait can end, by its timeout or by cancellation, before
    /// its waiter was added to `waiters`; without this set that waiter would then never be resumed.
    var pending: Set<Int> = []

    /// Removes and returns the waiters that need not wait any longer.
    mutating func takeWaiters(where isDone: (Waiter) -> Bool) -> [Waiter] {
      let taken = waiters.filter(isDone)
      waiters.removeAll(where: isDone)
      return taken
    }
  }

  private let state = SystemMutex(State())

  var items: [Item] { state.withLock { $0.items } }

  /// The first item that was appended as the last one.
  var end: Item? { state.withLock { $0.end } }

  /// Appends an item, and resumes the waiters for which it is the last one that they expect.
  ///
  /// - Parameters:
  ///   - counts: Whether this item counts towards the number that waiters expect.
  ///   - isLast: Whether waiters need not expect more items.
  func append(_ item: Item, counts: Bool = true, isLast: Bool = false) {
    let (count, done) = state.withLock { state in
      state.items.append(item)
      if counts { state.count += 1 }
      if isLast, state.end == nil { state.end = item }
      let (count, isOver) = (state.count, state.end != nil)
      return (count, state.takeWaiters { isOver || $0.count <= count })
    }
    for waiter in done { waiter.continuation.resume(returning: waiter.count <= count) }
  }

  /// Waits until `count` items count. Returns false if the time has passed, the last item was appended, or the
  /// task is cancelled before.
  func wait(forCount count: Int, timeout: Duration) async -> Bool {
    let number = state.withLock { state in
      state.lastNumber += 1
      state.pending.insert(state.lastNumber)
      return state.lastNumber
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
    let result: Bool? = state.withLock { state in
      if waiter.count <= state.count { return true }
      if state.end != nil || !state.pending.contains(waiter.number) { return false }
      state.waiters.append(waiter)
      return nil
    }
    if let result { waiter.continuation.resume(returning: result) }
  }

  private func giveUp(_ number: Int) {
    let done = state.withLock { state in
      state.pending.remove(number)
      return state.takeWaiters { $0.number == number }
    }
    for waiter in done { waiter.continuation.resume(returning: false) }
  }
}
