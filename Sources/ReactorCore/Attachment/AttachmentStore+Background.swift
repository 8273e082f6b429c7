import Dispatch

/// The sweep in the background: a chain of one-shot timers that ends when there is nothing left to do.
extension AttachmentStore {
  private static var shortestPeriod: Int { 50 }
  private static var longestPeriod: Int { 1000 }

  /// After something was linked or retired. Any thread, without a mutex.
  func startSweeper() {
    // SWEEPER: whether it runs, after "there is something". If it does, its last look has yet to come.
    if isSweeperRunning.load(ordering: .sequentiallyConsistent) { return }
    if takeSweeper() { scheduleSweep(after: Self.shortestPeriod) }
  }

  private func takeSweeper() -> Bool {
    isSweeperRunning.compareExchange(
      expected: false, desired: true, ordering: .sequentiallyConsistent
    ).exchanged
  }

  /// - Parameter period: In milliseconds.
  private func scheduleSweep(after period: Int) {
    let before = wasInserted
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(period)) { [weak self] in
      self?.sweepInBackground(after: period, insertedBefore: before)
    }
  }

  private func sweepInBackground(after period: Int, insertedBefore: Int) {
    let swept = sweep()
    if isEmpty {
      // SWEEPER: it does not run any more, before the last look whether there is something.
      isSweeperRunning.store(false, ordering: .sequentiallyConsistent)
      if isEmpty || !takeSweeper() { return }
    }
    let isBusy = swept > 0 || wasInserted != insertedBefore
    scheduleSweep(after: isBusy ? Self.shortestPeriod : min(period * 2, Self.longestPeriod))
  }
}
