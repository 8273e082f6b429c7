import ReactorCore

/// Makes one sequence of what several threads bring: the state machine of a queue-drain loop.
///
/// The rule: a thread that brings an input while no other thread is at work becomes the *drainer*. It
/// handles its input, then what other threads have queued meanwhile, and gives the work up when nothing is
/// queued. The other threads do not wait for it.
///
///                submit, tryAcquire
///           ┌──────────────────────────────┐
///           │  enqueue              begin  ▼
///         idle ───────▶ scheduled ─────▶ draining      submit, enqueue: queued
///           ▲               ▲              │ │
///           │               └──────────────┘ │
///           │           finish: more queued  │
///           └────────────────────────────────┘
///             takeBatch, finish: nothing queued
///
/// From this follows, as long as only the drainer handles inputs:
///
/// - One input is handled at a time, in the order in which they were accepted. What the drainer brings while
///   it handles an input is queued like any other, so nothing recurses.
/// - No lock is held while an input is handled, so an observer may bring further inputs, and threads that
///   have nothing to do with each other do not wait for each other.
/// - Nothing is forgotten. The drainer gives up in the same step in which it finds the queue empty, and an
///   input is queued only in a step that finds a drainer. As both steps happen under one lock, an input that
///   is queued has a drainer that will look again.
/// - Handling one input happens before handling the next, whatever threads do so: the lock orders them.
///
/// There are two ways to become the drainer. By ``submit(_:on:)`` the calling thread is it at once; its input
/// is not queued, so a sequence without contention allocates nothing. By ``enqueue(_:on:)`` the caller has to
/// start a drain elsewhere, such as on a scheduler; nobody drains until that has begun.
///
/// Memory is bounded by ``Backpressure``: a thread whose input was queued behind ``Backpressure/limit``
/// others is told to wait until the drainer has taken them. A drainer that never names its thread by
/// ``begin(on:)`` is not waited for, and what is queued for it is not bounded.
///
/// This is a plain value without a lock or a thread. Its user keeps it in a `SystemMutex`, so that what
/// else belongs to an input, such as its number, changes in the same step; handles inputs after the lock;
/// and waits, and wakes waiting threads, after the lock. Whatever leaves the queue is handed out, because
/// destroying an input may run foreign code, which must not run under the lock.
@usableFromInline
struct SerialDrain<Input: Sendable>: Sendable {
  @usableFromInline var queue: [Input] = []
  /// What is handled before ``queue``, last input first: the end of an array is where removing one costs O(1). Only
  /// ``beginWithOne(on:)`` puts inputs here.
  @usableFromInline var reversed: [Input] = []
  /// Whether a drain is running or scheduled.
  @usableFromInline var isActive = false
  /// The token of the thread that drains; 0 if none does, or if it is not known.
  @usableFromInline var drainer: UInt64 = 0
  @usableFromInline var isClosed = false

  @inlinable
  init() {}

  /// Accepts an input. Idle → draining, by the calling thread, which handles the input; otherwise it is
  /// queued.
  @inlinable
  mutating func submit(_ input: Input, on thread: UInt64) -> DrainSubmission {
    if isClosed { return .refused }
    if tryAcquire(on: thread) { return .becameDrainer }
    return append(input, on: thread)
  }

  /// Queues an input. Idle → scheduled: then the caller starts a drain.
  @inlinable
  mutating func enqueue(_ input: Input, on thread: UInt64) -> DrainSubmission {
    if isClosed { return .refused }
    let queued = append(input, on: thread)
    if isActive { return queued }
    isActive = true
    return .becameDrainer
  }

  /// Idle → draining, without an input. False if another drain is scheduled or running, or this is closed.
  @inlinable
  mutating func tryAcquire(on thread: UInt64) -> Bool {
    if isActive || isClosed { return false }
    isActive = true
    drainer = thread
    return true
  }

  /// Scheduled → draining. Returns what is queued.
  @inlinable
  mutating func begin(on thread: UInt64) -> [Input] {
    drainer = thread
    return takeAll()
  }

  /// Scheduled → draining. Returns the first input only; the others stay queued. O(1) amortised.
  @inlinable
  mutating func beginWithOne(on thread: UInt64) -> [Input] {
    drainer = thread
    if reversed.isEmpty {
      swap(&queue, &reversed)
      reversed.reverse()
    }
    return reversed.popLast().map { [$0] } ?? []
  }

  /// Scheduled → draining, as ``begin(on:)``, but what is queued stays there.
  @inlinable
  mutating func takeOver(on thread: UInt64) { drainer = thread }

  /// Returns what is queued, for the drainer to handle. Draining → idle if that is nothing.
  @inlinable
  mutating func takeBatch() -> [Input] {
    if count == 0 { release() }
    return takeAll()
  }

  /// Gives the drain up after one batch: draining → idle, or → scheduled if more is queued.
  ///
  /// - Returns: How many inputs are queued. If there are any, the caller starts a drain.
  @inlinable
  mutating func finish() -> Int {
    release()
    isActive = count > 0
    return count
  }

  /// Refuses all further inputs. Any thread.
  ///
  /// - Returns: What was queued, and whether nobody drains, so that the caller may destroy what only the
  ///   drainer touches. Otherwise the drainer finds this closed when it takes its next batch.
  @inlinable
  mutating func close() -> (forgotten: [Input], wasIdle: Bool) {
    let wasIdle = !isActive && !isClosed
    isClosed = true
    return (takeAll(), wasIdle)
  }

  /// Whether a thread that was told to wait may go on.
  @inlinable
  var hasRoom: Bool { drainer == 0 || count <= Backpressure.limit }

  /// How many inputs are queued.
  @inlinable
  var count: Int { queue.count + reversed.count }

  @inlinable
  mutating func append(_ input: Input, on thread: UInt64) -> DrainSubmission {
    queue.append(input)
    // The drainer would wait for itself, and before a drain has begun there is no thread to wait for: the
    // scheduler may need the very thread that calls.
    return .queued(mustWait: count > Backpressure.limit && drainer != 0 && drainer != thread)
  }

  @inlinable
  mutating func takeAll() -> [Input] {
    var all: [Input] = []
    swap(&all, &queue)
    if reversed.isEmpty { return all }
    defer { reversed = [] }
    return reversed.reversed() + all
  }

  @inlinable
  mutating func release() {
    isActive = false
    drainer = 0
  }
}

extension SerialDrain {
  /// The loop of a drainer: handles batch after batch until there is none.
  ///
  /// - Parameters:
  ///   - takeBatch: Calls ``takeBatch()`` under the lock.
  ///   - handle: Called with each input, after the lock.
  @inlinable
  static func drain(takeBatch: () -> [Input], handle: (Input) -> Void) {
    while true {
      let batch = takeBatch()
      if batch.isEmpty { return }
      Backpressure.notifyRoom(afterTaking: batch.count)
      for input in batch { handle(input) }
    }
  }
}

/// What has become of an input that was brought to a ``SerialDrain``, and what the thread that brought it
/// must do.
@usableFromInline
enum DrainSubmission: Sendable {
  /// Nothing: the input was refused because of ``SerialDrain/close()``.
  case refused
  /// The thread handles the input, or, after ``SerialDrain/enqueue(_:on:)``, starts a drain.
  case becameDrainer
  /// The input is left to the drainer. The thread waits for room if `mustWait`.
  case queued(mustWait: Bool)
}

/// Blocks threads that submit faster than the drainer handles inputs.
///
/// All drainers of the process share one place to wait, because waiting is rare.
@usableFromInline
enum Backpressure {
  private static let room: EventCount = {
    do { return try EventCount() } catch { fatalError("no memory for an event count: \(error)") }
  }()

  /// How many inputs may be queued before the next thread that brings one waits.
  @inlinable
  static var limit: Int { 1024 }

  /// Wakes the threads that wait, after so many inputs were taken from a queue. Any thread.
  @inlinable
  static func notifyRoom(afterTaking count: Int) {
    if count > limit { wakeAll() }
  }

  @usableFromInline
  static func wakeAll() { room.notify() }

  /// Blocks until there is room. Returns also as soon as the drainer waits, directly or through others, for this
  /// thread (see `WaitGraph`): then each input makes the queue grow beyond the limit, since the alternatives are a
  /// deadlock and a loss.
  ///
  /// - Parameters:
  ///   - thread: The token of the calling thread.
  ///   - drainer: Returns the token of the thread that drains; 0 if there is none.
  ///   - hasRoom: Returns ``SerialDrain/hasRoom``.
  @usableFromInline
  static func wait(
    _ thread: UInt64, drainer: @escaping @Sendable () -> UInt64, hasRoom: @escaping @Sendable () -> Bool
  ) {
    while !hasRoom() {
      let wait = WaitGraph.Wait(
        thread: thread, emptier: drainer, isOver: hasRoom, wake: { room.notify() },
        reads: WaitGraph.readsHere, isElastic: true)
      switch WaitGraph.enter(wait) {
      case .sleeps: break
      case .triesAgain: continue
      case .wouldSleepForEver: return
      }
      defer { WaitGraph.leave(wait) }
      // Sleeps once at most: while this wait was over, other threads may have begun to wait for this one, and the queue may be full
      // again. So this thread must enter the graph again before it sleeps again.
      var checks = 0
      _ = room.wait {
        checks += 1
        return checks > 2 || wait.mustGiveUp || hasRoom()
      }
      if wait.mustGiveUp { return }
    }
  }
}

/// A ``SerialDrain`` with its lock, and with a state that only the drainer touches: what an operator with
/// several sources knows.
///
/// Disposing of it destroys the state and what is queued, and lets threads go on that wait for room.
@usableFromInline
final class StatefulDrain<State: Sendable, Input: Sendable>: Disposable {
  @usableFromInline let queue = SystemMutex(SerialDrain<Input>())
  /// The drainer's. Nil once this was disposed of.
  @usableFromInline let state: OwnerIsolated<State?>
  @usableFromInline let handle: @Sendable (inout State, Input) -> Void

  /// - Parameter handle: Called with one input at a time, on any of the threads that bring them.
  @inlinable
  init(_ state: State, handle: @escaping @Sendable (inout State, Input) -> Void) {
    self.state = OwnerIsolated(state)
    self.handle = handle
  }

  /// Handles an input, or leaves it to the thread that is handling another. Blocks as ``Backpressure`` says.
  /// Any thread.
  @inlinable
  func submit(_ input: Input) {
    let me = CurrentCore.threadToken
    switch queue.withLock({ $0.submit(input, on: me) }) {
    case .refused: break
    case .becameDrainer: drain(input)
    case .queued(let mustWait): if mustWait { waitForRoom(me) }
    }
  }

  /// Refuses what comes from now on, and forgets what is queued. Any thread, also while it handles an input.
  @inlinable
  func dispose() {
    let (forgotten, wasIdle) = queue.withLock { $0.close() }
    Backpressure.notifyRoom(afterTaking: forgotten.count)
    // A drainer lets go of the state itself.
    if wasIdle { state.value = nil }
  }

  @inlinable
  func drain(_ first: Input) {
    handle(&state.value!, first)
    SerialDrain.drain(
      takeBatch: {
        let (batch, isClosed) = queue.withLock { ($0.takeBatch(), $0.isClosed) }
        // Nobody else touches the state: nobody becomes the drainer of a closed queue.
        if isClosed { state.value = nil }
        return batch
      },
      handle: { input in if !isClosed { handle(&state.value!, input) } })
  }

  @inlinable
  var isClosed: Bool { queue.withLock { $0.isClosed } }

  @inlinable
  func waitForRoom(_ me: UInt64) {
    Backpressure.wait(
      me, drainer: { [self] in queue.withLock { $0.drainer } },
      hasRoom: { [self] in queue.withLock { $0.hasRoom } })
  }
}
