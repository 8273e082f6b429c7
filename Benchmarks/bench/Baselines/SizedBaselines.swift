/// A state of some size behind a pthread mutex.
///
/// `@unchecked Sendable`: `state`, at a fixed address, is touched only under `mutex`.
final class SizedMutexBaseline<State: SizedState>: FanInSubject, @unchecked Sendable {
  private let mutex = PthreadMutex()
  private let state = Placed(State())

  init(_ setup: SubjectSetup) {}

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values { mutex.withLock { state.value.reduce(Item(producer: 0, value: value)) } }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals { try mutex.withLock { state.value.totals }.agreed() }
}

/// A state of some size that only its sender can use: what reducing alone costs.
///
/// `@unchecked Sendable`: one thread sends, and then asks for the totals.
final class SizedPlainBaseline<State: SizedState>: FanInSubject, @unchecked Sendable {
  private let state = Placed(State())

  init(_ setup: SubjectSetup) {}

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values { reduce(Item(producer: 0, value: value)) }
  }

  /// Not inlined, so that a chunk does not become a single addition.
  @inline(never)
  private func reduce(_ item: Item) { state.value.reduce(item) }

  func awaitTotals(_ quota: Quota) throws -> Totals { try state.value.totals.agreed() }
}
