import ReactorCore

/// The watched descriptors of the main loop. The system has one entry for each descriptor, with everything that is
/// waited for there; this table has one watch for each call of ``MainLoop/watch(_:for:_:)``.
final class WatchTable: Sendable {
  private final class Watch: Sendable {
    let interest: Poller.Interest
    let body: @Sendable () -> Void

    init(_ interest: Poller.Interest, _ body: @escaping @Sendable () -> Void) {
      self.interest = interest
      self.body = body
    }
  }

  private let poller: Poller
  private let watches = SystemMutex<[Int32: [Watch]]>([:])

  init(_ poller: Poller) { self.poller = poller }

  /// Any thread.
  var isEmpty: Bool { watches.withLock { $0.isEmpty } }

  /// Starts a watch, and returns what ends it. Any thread.
  func add(
    _ descriptor: Int32, for readiness: MainLoop.Readiness, _ body: @escaping @Sendable () -> Void
  ) throws(MainLoopError) -> any Disposable {
    let watch = Watch(readiness == .readable ? .readable : .writable, body)
    let refusal = watches.withLock { watches in
      update(descriptor, from: watches[descriptor], to: (watches[descriptor] ?? []) + [watch], in: &watches)
    }
    if let refusal { throw .descriptorRefused(refusal.code) }
    MainLoopRunner.shared.watchPoller()
    return Disposables.create { [self] in remove(watch, of: descriptor) }
  }

  private func remove(_ watch: Watch, of descriptor: Int32) {
    _ = watches.withLock { watches in
      update(
        descriptor, from: watches[descriptor], to: watches[descriptor]?.filter { $0 !== watch } ?? [],
        in: &watches)
    }
  }

  /// Changes the system's entry, and then the table; returns why the system refuses that. Under the lock.
  private func update(
    _ descriptor: Int32, from before: [Watch]?, to after: [Watch], in watches: inout [Int32: [Watch]]
  ) -> Poller.Refusal? {
    let interest = after.reduce(into: Poller.Interest()) { $0.formUnion($1.interest) }
    let tag = UInt64(UInt32(bitPattern: descriptor))
    do {
      if before == nil {
        try poller.add(descriptor, for: interest, tag: tag)
      } else if after.isEmpty {
        poller.remove(descriptor)
      } else {
        try poller.change(descriptor, to: interest, tag: tag)
      }
    } catch {
      return error
    }
    watches[descriptor] = after.isEmpty ? nil : after
    return nil
  }

  /// Returns what is to be called for a descriptor that is ready. Each checks its watch again when it is called, since
  /// one of them may end the next. Any thread.
  func bodies(_ tag: UInt64, _ ready: Poller.Interest) -> [@Sendable () -> Void] {
    guard let descriptor = Int32(exactly: tag) else { return [] }
    let found = watches.withLock { $0[descriptor] ?? [] }
    return found.filter { !$0.interest.isDisjoint(with: ready) }.map { watch in
      { [self] in
        let isWatching = watches.withLock { $0[descriptor]?.contains { $0 === watch } ?? false }
        if isWatching { watch.body() }
      }
    }
  }
}
