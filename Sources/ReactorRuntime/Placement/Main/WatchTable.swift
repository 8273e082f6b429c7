import Dispatch
import ReactorCore
import Synchronization

/// Who watches which descriptor. The system has one entry for each descriptor, with all that is waited for.
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

  var isEmpty: Bool { watches.withLock { $0.isEmpty } }

  func add(
    _ descriptor: Int32, for readiness: MainLoop.Readiness, _ body: @escaping @Sendable () -> Void
  ) throws(MainLoopError) -> any Disposable {
    let watch = Watch(readiness == .readable ? .readable : .writable, body)
    let refusal = watches.withLock { watches in
      update(descriptor, from: watches[descriptor], to: (watches[descriptor] ?? []) + [watch], in: &watches)
    }
    if let refusal { throw .descriptorRefused(refusal.code) }
    MainLoopHost.shared.watchPoller()
    return Disposables.create { [self] in remove(watch, of: descriptor) }
  }

  private func remove(_ watch: Watch, of descriptor: Int32) {
    _ = watches.withLock { watches in
      update(
        descriptor, from: watches[descriptor], to: watches[descriptor]?.filter { $0 !== watch } ?? [],
        in: &watches)
    }
  }

  /// Under the lock.
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

  /// What is to be called, by a call each: one of them may end the next.
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

/// Brings a block into the main queue, once until it is unrung: see ``MainLoopHost``.
final class MainQueueSignal: Sendable {
  private let isRung = Atomic(false)
  /// Relaxed: a number.
  private let count = Atomic<UInt32>(0)
  /// Besides, where the main queue cannot be watched: readable when rung.
  let event: EventDescriptor?

  init() throws(CoreError) { event = MainQueue.descriptor == nil ? try EventDescriptor() : nil }

  /// How often a block was brought because somebody rang.
  var rings: UInt32 { count.load(ordering: .relaxed) }

  /// Any thread.
  func ring() {
    if !tryTakeOverSpilled() { return }
    count.add(1, ordering: .relaxed)
    bringBlock()
  }

  /// Whether it was not rung, and the caller has rung it now.
  func tryTakeOverSpilled() -> Bool { !isRung.exchange(true, ordering: .sequentiallyConsistent) }

  /// The block, before it looks for the last time; answers whether it was rung.
  func unring() -> Bool { isRung.exchange(false, ordering: .sequentiallyConsistent) }

  func bringBlock() {
    DispatchQueue.main.async { MainLoopHost.shared.runBlock() }
    event?.signal()
  }
}
