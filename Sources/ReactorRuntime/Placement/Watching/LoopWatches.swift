import Glibc
import ReactorCore
import Synchronization

/// The watched descriptors of a loop, and what the loop sleeps on once it has any.
///
/// Threads add, change and remove watches under the lock of the table; the system's set of descriptors is changed under it
/// as well, so that both always agree. The loop waits for events without the lock, and takes it once for each batch of them.
///
/// **Waking.** The word of the loop's event count stays what decides whether a submitter must wake the loop. Only the sleep is
/// another one: the loop arms the word, checks its inbox, and waits in the poller. A submitter that finds the word armed
/// disarms it and then signals ``wake`` (`LoopInbox.notify()`). It finds `wake` there, because this is published before the loop takes it
/// in, and before its first sleep in the poller the loop runs a heavy fence once: a submitter that sees the word armed by that
/// sleep, and runs a light fence afterwards, sees what was written before that heavy fence.
@usableFromInline
final class LoopWatches: Sendable {
  /// What is called for a descriptor.
  struct Entry: Sendable {
    let watch: Watch
    let body: @Sendable (Watch, Loop.Readiness) -> Void
  }

  private struct Table: Sendable {
    /// By descriptor: these are small numbers.
    var entries: [Entry?] = []
    var nextTag: UInt64 = 0
    var isClosed = false
  }

  private typealias Ready = (tag: UInt64, readiness: Loop.Readiness)

  private static let wakeTag = UInt64.max - 1
  private static let mask: UInt64 = 0xffff_ffff

  let poller: Poller
  /// Ends a sleep in the poller; nil for a loop without a thread, which never sleeps.
  private let wake: EventDescriptor?
  private let table = SystemMutex(Table())
  /// The thread that runs the rounds uses the next four.
  private let ready = OwnerIsolated<[Ready]>([])
  private let calls = OwnerIsolated<[(entry: Entry, readiness: Loop.Readiness)]>([])
  private let isWakePublished = OwnerIsolated(false)
  private let timerDeadline = OwnerIsolated<Int64?>(nil)

  /// - Parameter hasThread: Whether a thread sleeps here.
  init(hasThread: Bool) throws(CoreError) {
    poller = try Poller()
    wake = hasThread ? try EventDescriptor() : nil
    guard let wake else { return }
    do {
      try poller.add(wake.descriptor, for: .readable, tag: Self.wakeTag)
    } catch {
      throw .noDescriptor
    }
  }

  // MARK: Any thread

  /// Ends a sleep of the loop in the poller.
  func signal() { wake?.signal() }

  func add(
    _ descriptor: Int32, _ readiness: Loop.Readiness,
    _ body: @escaping @Sendable (Watch, Loop.Readiness) -> Void
  ) throws(WatchError) -> Watch {
    // The system is asked nothing about a descriptor that is watched for nothing.
    if descriptor < 0 || readiness.isEmpty && fcntl(descriptor, F_GETFD) < 0 {
      throw .descriptorRefused(Poller.Refusal.notOpen.code)
    }
    let result = table.withLock { table -> Result<Watch, WatchError> in
      if table.isClosed { return .failure(.closed) }
      let index = Int(descriptor)
      if index < table.entries.count, table.entries[index] != nil { return .failure(.alreadyWatched) }
      let tag = UInt64(index) | (table.nextTag << 32)
      let watch = Watch(descriptor, tag: tag, readiness, in: self)
      if let refusal = update(watch, from: [], to: readiness) { return .failure(refusal) }
      // 31 bits, so that no tag is one of the poller's or of this object.
      table.nextTag = (table.nextTag + 1) & 0x7fff_ffff
      while table.entries.count <= index { table.entries.append(nil) }
      table.entries[index] = Entry(watch: watch, body: body)
      return .success(watch)
    }
    return try result.get()
  }

  func change(_ watch: Watch, to readiness: Loop.Readiness) throws(WatchError) {
    let refusal = table.withLock { table -> WatchError? in
      guard Self.isCurrent(watch, in: table) else { return nil }
      let refusal = update(watch, from: watch.currentInterest, to: readiness)
      if refusal == nil { watch.interest.store(readiness.rawValue, ordering: .relaxed) }
      return refusal
    }
    if let refusal { throw refusal }
  }

  func remove(_ watch: Watch) {
    // Released after the lock: what the body captured may do anything when it goes.
    var removed: Entry?
    table.withLock { table in
      guard Self.isCurrent(watch, in: table) else { return }
      _ = update(watch, from: watch.currentInterest, to: [])
      watch.interest.store(0, ordering: .relaxed)
      swap(&removed, &table.entries[Int(watch.descriptor)])
    }
  }

  /// Ends all watches, and refuses later ones.
  func close() {
    let entries = table.withLock { table in
      table.isClosed = true
      for case let entry? in table.entries {
        _ = update(entry.watch, from: entry.watch.currentInterest, to: [])
        entry.watch.interest.store(0, ordering: .relaxed)
      }
      defer { table.entries = [] }
      return table.entries
    }
    _ = entries
  }

  private static func isCurrent(_ watch: Watch, in table: borrowing Table) -> Bool {
    let index = Int(watch.descriptor)
    return index < table.entries.count && table.entries[index]?.watch === watch
  }

  /// Tells the system. A descriptor that is watched for nothing is not in its set, since the system would report the end of
  /// the other side there. Under the lock.
  private func update(
    _ watch: Watch, from before: Loop.Readiness, to after: Loop.Readiness
  ) -> WatchError? {
    if before == after { return nil }
    do {
      if after.isEmpty {
        poller.remove(watch.descriptor)
      } else if before.isEmpty {
        try poller.add(watch.descriptor, for: Poller.Interest(after), tag: watch.tag)
      } else {
        try poller.change(watch.descriptor, to: Poller.Interest(after), tag: watch.tag)
      }
      return nil
    } catch {
      return .descriptorRefused(error.code)
    }
  }
}

// MARK: The thread that runs the rounds

extension LoopWatches {
  /// Calls the bodies of descriptors that are ready, of at most 32; returns how many.
  func run(_ monitor: LoopMonitor) -> Int {
    if ready.value.isEmpty { wait(timeoutMilliseconds: 0) }
    if ready.value.isEmpty { return 0 }
    table.withLock { table in
      for (tag, readiness) in ready.value {
        let index = Int(tag & Self.mask)
        guard index < table.entries.count, let entry = table.entries[index], entry.watch.tag == tag else {
          continue
        }
        calls.value.append((entry, readiness))
      }
    }
    ready.value.removeAll(keepingCapacity: true)
    var ran = 0
    for (entry, readiness) in calls.value {
      // An earlier body may have changed or ended this watch.
      let due = readiness.intersection(entry.watch.currentInterest)
      if due.isEmpty { continue }
      entry.body(entry.watch, due)
      ran += 1
      monitor.noteJob()
    }
    calls.value.removeAll(keepingCapacity: true)
    return ran
  }

  /// Sleeps until a descriptor is ready, that time has come, or ``signal()`` is called. What it finds is for the next
  /// ``run(_:)``.
  func sleep(until deadline: Int64?) {
    if timerDeadline.value != deadline {
      poller.setTimer(deadline)
      timerDeadline.value = deadline
    }
    wait(timeoutMilliseconds: -1)
  }

  /// Makes sure that threads that find the loop's word armed from now on find this, too. Returns false if the system refuses
  /// the fence: then the loop must not sleep. A core without such fences has a full one in the event count, on both sides.
  func publishWake() -> Bool {
    if !isWakePublished.value { isWakePublished.value = !CurrentCore.hasFences || CurrentCore.heavyFence() }
    return isWakePublished.value
  }

  private func wait(timeoutMilliseconds: Int32) {
    poller.wait(timeoutMilliseconds: timeoutMilliseconds) { tag, interest in
      if tag == Self.wakeTag {
        wake?.acknowledge()
      } else {
        ready.value.append((tag, Loop.Readiness(interest)))
      }
    }
  }
}

extension Poller.Interest {
  fileprivate init(_ readiness: Loop.Readiness) {
    self = []
    if readiness.contains(.readable) { insert(.readable) }
    if readiness.contains(.writable) { insert(.writable) }
  }
}

extension Loop.Readiness {
  fileprivate init(_ interest: Poller.Interest) {
    self = []
    if interest.contains(.readable) { insert(.readable) }
    if interest.contains(.writable) { insert(.writable) }
  }
}

// MARK: The loop

extension LoopState {
  /// The watches, which the first call makes. Any thread.
  func ensureWatches() throws(WatchError) -> LoopWatches {
    if isClosed { throw .closed }
    if let watches = inbox.watches.use({ $0 }) { return watches }
    var watchByHost: (@Sendable (Int32) -> Bool)?
    switch polling {
    case .byThread: break
    case .byHost(let watch): watchByHost = watch
    case .impossible: throw .notPolled
    }
    let mine: LoopWatches
    do {
      mine = try LoopWatches(hasThread: watchByHost == nil)
    } catch {
      throw .noDescriptor
    }
    // Before others find it: the host may refuse now, and not the next time. If another thread comes first, the host watches
    // this poller until it goes away.
    if let watchByHost, !watchByHost(mine.poller.descriptor) { throw .noDescriptor }
    let watches = inbox.watches.setIfNil(mine)
    if watches !== mine { return watches }
    let isPosted = inbox.post(unless: { _ in isClosed }, { $0.watches = watches })
    if isPosted { return watches }
    watches.close()
    throw .closed
  }

  /// Sleeps like ``park(until:)``, and also until a watched descriptor is ready.
  @usableFromInline
  @inline(never)
  func park(in watches: LoopWatches, until deadline: Int64?) {
    if let deadline, deadline <= MonotonicTime.now { return }
    guard watches.publishWake(), inbox.arm(unless: { inbox.isReady }) else { return pause(after: 1) }
    Tracepoint.park(self)
    monitor.notePark()
    watches.sleep(until: deadline)
    Tracepoint.wake(self)
    monitor.noteWakes(total: inbox.wake.wakes)
    monitor.beat()
  }
}
