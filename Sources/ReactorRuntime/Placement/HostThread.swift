import ReactorCore
import Synchronization

/// The thread that ran the last rounds of a hosted loop, or made it, and probably runs the next. If the foreign loop can tell whether
/// a thread is inside of it, any thread for which that is so.
final class HostThread: Sendable {
  /// All of them, by the tokens of their threads; under 0 those with `isHost`. Used when a loop gets another host, and by a thread
  /// that waits for room. A weak reference is loaded outside of the lock only: it may become the last one, and the end of its object
  /// takes the lock.
  private static let all = SystemMutex<[UInt64: WaitingLine<WeakCell<HostThread>>]>([:])
  /// How many there are: in a process without hosted loops, a thread that waits for room need not take that lock. Relaxed: a
  /// thread that is a host has counted itself. (It must not depend on the tokens, which are addresses: then the controlled
  /// scheduler could not repeat a schedule.)
  private static let count = Atomic(0)

  /// Weak, because the hosted loop has this. Set once, before another thread has the loop. It is retained while a round runs
  /// here: the round may drop the last other reference, and a loop must not go away in the middle of its own round.
  let hosted = WeakCell<HostedLoop>()
  /// Whether the calling thread is inside of the foreign loop, if that can be known. Not called under the lock.
  private let isHost: (@Sendable () -> Bool)?
  // Relaxed: a thread that finds its own token has stored it itself, or got the token of a thread that has ended. Then
  // it runs a round too many, which any thread may do. Stored under the lock. 0 with `isHost`.
  private let token = Atomic<UInt64>(0)
  /// Where it is among those of that token. Under the lock.
  private let place = OwnerIsolated<WaitingLine<WeakCell<HostThread>>.Place?>(nil)

  init(isHost: (@Sendable () -> Bool)?) {
    self.isHost = isHost
    if isHost == nil { return }
    WaitGraph.findQueues(by: LoopHost.queuesHere)
    Self.count.add(1, ordering: .relaxed)
    let cell = cell
    Self.all.withLock { place.value = $0[0, default: WaitingLine()].append(cell) }
  }

  private var cell: WeakCell<HostThread> {
    let cell = WeakCell<HostThread>()
    cell.value = self
    return cell
  }

  deinit {
    if Self.all.withLock({ remove(from: &$0) }) != nil { Self.count.subtract(1, ordering: .relaxed) }
  }

  /// Notes that the calling thread is the host, unless the foreign loop can tell.
  func note() {
    let mine = CurrentCore.threadToken
    if isHost != nil || token.load(ordering: .relaxed) == mine { return }
    let cell = cell
    // Destroyed outside of the lock.
    let earlier = Self.all.withLock { all in
      defer {
        token.store(mine, ordering: .relaxed)
        place.value = all[mine, default: WaitingLine()].append(cell)
      }
      return remove(from: &all)
    }
    if earlier == nil { Self.count.add(1, ordering: .relaxed) }
  }

  private func remove(from all: inout [UInt64: WaitingLine<WeakCell<HostThread>>]) -> WeakCell<HostThread>? {
    guard let place = place.value.take() else { return nil }
    let token = token.load(ordering: .relaxed)
    let removed = all[token]?.remove(at: place)
    if all[token]?.isEmpty == true { all[token] = nil }
    return removed
  }

  /// Of the loop that this is for.
  var host: LoopHost {
    LoopHost {
      self.tryRunRound()
    } next: {
      self.next
    }
  }

  /// If the calling thread is the host and is not inside of a round, runs a round and returns how many actions, jobs and timers
  /// it ran. Returns nil if another thread is in the middle of a round: the caller may have a deadline. A sender that waits for
  /// room would otherwise wait for itself.
  private func tryRunRound() -> Int? {
    guard isHere, let hosted = hosted.value, !hosted.loop.isCurrent else { return nil }
    return withExtendedLifetime(hosted) { hosted.stepper.stepIfIdle(besideHost: true) }
  }

  /// Whether the calling thread is the host.
  private var isHere: Bool { isHost?() ?? (token.load(ordering: .relaxed) == CurrentCore.threadToken) }

  /// Where the foreign loop can tell, not the thread that ran the last round: it may run other code now, and wait for this loop like
  /// any other thread.
  private var next: WaitGraph.Emptier {
    if isHost != nil { return WaitGraph.Emptier(inside: ObjectIdentifier(self)) }
    return WaitGraph.Emptier(token.load(ordering: .relaxed), isBetweenRounds: true)
  }

  /// Those of which the calling thread is the host; in the order in which it became that, and then those with `isHost`.
  private static var hosts: [HostThread] {
    if count.load(ordering: .relaxed) == 0 { return [] }
    let mine = CurrentCore.threadToken
    let cells = all.withLock { all in (all[mine]?.elements ?? []) + (all[0]?.elements ?? []) }
    return cells.compactMap(\.value).filter { $0.isHost?() != false }
  }

  /// The foreign loops that the calling thread is inside of, of those that can tell.
  static var queuesHere: [ObjectIdentifier] { hosts.filter { $0.isHost != nil }.map { ObjectIdentifier($0) } }

  /// Runs a round of each loop of which the calling thread is the host. Not from inside of a turn. A thread that waits for
  /// room calls it, since the one that makes that room may be waiting for room in a mailbox of such a loop.
  ///
  /// - Returns: How many actions, jobs and timers it ran; nil if the thread hosts no loop.
  static func runRounds() -> Int? {
    let hosts = hosts
    if hosts.isEmpty { return nil }
    return hosts.reduce(0) { sum, host in
      guard let hosted = host.hosted.value, !hosted.loop.isCurrent else { return sum }
      return withExtendedLifetime(hosted) { sum + (hosted.stepper.stepIfIdle(besideHost: true) ?? 0) }
    }
  }

  /// Calls `wait` until it returns true or the time has come, and returns what it returned last. If the calling thread is the host
  /// of `loop`, or of others, it runs their rounds meanwhile: nobody else would, and it would wait for itself. It runs none inside
  /// of a turn or a job.
  static func wait(
    until deadline: ContinuousClock.Instant, for loop: () -> LoopState?,
    _ wait: (ContinuousClock.Instant) -> Bool
  ) -> Bool {
    // Many rounds without a pause, as long as each may bring the end nearer. Then it may depend on another thread.
    for round in 0... {
      if TurnMark.isSet { break }
      let now = ContinuousClock.now
      if now >= deadline { break }
      let inItsLoops = runRounds()
      let inThis = loop()?.host?.runRoundHere()
      if inItsLoops == nil, inThis == nil { break }
      let pause: Duration = round < 4096 ? .zero : .milliseconds(1)
      if wait(min(deadline, now + pause)) { return true }
    }
    return wait(deadline)
  }
}

extension LoopHost {
  /// The queues that the calling thread is inside of: see `WaitGraph`.
  @Sendable static func queuesHere() -> [ObjectIdentifier] {
    HostThread.queuesHere + MainLoopRunner.queuesHere()
  }
}
