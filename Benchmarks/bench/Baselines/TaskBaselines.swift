import CBenchmarkLimits
import Dispatch
import Synchronization

/// An actor that holds the state, and one task per producer that awaits each item.
///
/// In real code the task hops to the actor and back for each call. A loop that does nothing but call the actor would stay
/// on it. So each item is followed by a call of a C function, for which the task must leave the actor.
final class ActorBaseline: FanInSubject {
  static let floats = true
  /// Long, since a task is started for each chunk.
  static let chunk = 16_384

  private actor Reducer {
    private var tally: Tally

    init(_ tally: Tally) {
      self.tally = tally
    }

    func reduce(_ item: Item) {
      tally.reduce(item)
    }

    var totals: Totals { tally.totals }
  }

  private let reducer: Reducer

  init(_ setup: SubjectSetup) {
    reducer = Reducer(Tally(inspector: setup.inspector))
  }

  func produce(producer: Int, values: Range<UInt64>) {
    let reducer = reducer
    let done = DispatchSemaphore(value: 0)
    Task.detached {
      for value in values {
        await reducer.reduce(Item(producer: UInt64(producer), value: value))
        bl_opaque()
      }
      done.signal()
    }
    done.wait()
  }

  /// One task for the whole schedule. A thread that started one for each item and slept until it ended would measure that.
  func produce(on schedule: SendSchedule) -> Totals {
    Handover.blocking { [reducer] in
      var schedule = schedule
      while let due = schedule.next() {
        await reducer.reduce(Item(producer: 0, value: due))
        bl_opaque()
      }
      return schedule.sent
    }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try quota.awaitProducers()
    return Handover.blocking { [reducer] in await reducer.totals }
  }
}

/// An unbounded `AsyncStream` that producers yield to and one task iterates.
final class AsyncStreamBaseline: FanInSubject {
  static let floats = true
  static let mostItems: Int? = 2_000_000

  private let continuation: AsyncStream<Item>.Continuation
  private let totals = Handover<Totals>()

  init(_ setup: SubjectSetup) {
    let (stream, continuation) = AsyncStream.makeStream(of: Item.self, bufferingPolicy: .unbounded)
    self.continuation = continuation
    let tally = Tally(inspector: setup.inspector)
    Task.detached { [totals] in
      var tally = tally
      for await item in stream { tally.reduce(item) }
      totals.give(tally.totals)
    }
  }

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values { continuation.yield(Item(producer: UInt64(producer), value: value)) }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try quota.awaitProducers()
    continuation.finish()
    return totals.wait()
  }
}

/// A value that a task gives to a thread. The thread sleeps until then.
final class Handover<Value: Sendable>: Sendable {
  private let value = Mutex<Value?>(nil)
  private let isThere = DispatchSemaphore(value: 0)

  func give(_ given: Value) {
    value.withLock { $0 = given }
    isThere.signal()
  }

  /// Must be called once. Has no deadline: a repetition that hangs here is given up by ``MeasuringThread``.
  func wait() -> Value {
    isThere.wait()
    return taken()
  }

  /// The same; nil if there is nothing after so many seconds.
  func wait(atMost seconds: Double) -> Value? {
    guard isThere.wait(timeout: .now() + seconds) == .success else { return nil }
    return taken()
  }

  private func taken() -> Value {
    guard let given = value.withLock({ $0 }) else { preconditionFailure("signalled without a value") }
    return given
  }
}

extension Handover {
  /// Runs `body` in a task, and sleeps until it returns. Must not be called on a thread of the tasks' own pool.
  static func blocking(_ body: @escaping @Sendable () async -> Value) -> Value {
    let result = Handover()
    Task.detached { result.give(await body()) }
    return result.wait()
  }
}
