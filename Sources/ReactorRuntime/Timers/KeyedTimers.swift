import ReactorCore

/// The timers of one reactor, each with a key: for sessions that expire, requests that time out, keys with a time to live.
/// When one is due, the reactor gets an action.
///
/// ```swift
/// final class Sessions: Reactor {
///   enum Action: Sendable { case touch(String), end(String), expire(String) }
///   let timers = KeyedTimers<String, Action> { .expire($0) }
///   …
///   func mutate(action: Action) -> Observable<Action> {
///     switch action {
///     case .touch(let id): timers.set(id, after: .seconds(30), in: self)
///     case .end(let id): timers.cancel(id, in: self)
///     case .expire: break
///     }
///     return .just(action)
///   }
/// ```
///
/// - **In turns only.** Timers are set and cancelled by the reactor's own turns: in `mutate` or an observer, or in `reduce` if it
///   runs once for each mutation; not with ``SnapshotPolicy/replayed`` and not in a durable reactor. So they need no lock.
///   Elsewhere the program stops with a message.
/// - **Later actions win.** An action that cancels a timer or sets it again, and that is processed before the timer's own
///   action, makes sure that this does not come, even if the time is over. With a `transform(action:)` that delays actions,
///   such as `observe(on:)`, a timer's action is on its way when the time is over: then `mutate` must check the state.
/// - **Never early.** An action comes after the delay, at most one ``resolution`` later if the reactor has nothing else to do.
///   Actions that are due at the same time come in the order of the ticks, and in that of the sets within one tick.
/// - **With the reactor.** After ``Reactor/close(_:)``, or when the reactor is gone, no timer fires. Timers do not retain the
///   reactor.
/// - **Few wake-ups.** However many timers there are, one wake-up waits in the reactor's loop, or in Dispatch for placement
///   ``Placement/caller``: for the next slot of the wheel that holds a timer. A timer that is set again and again causes none
///   of its own.
///
/// A timer takes at most 64 bytes besides its key, and setting, cancelling and firing take constant time: see `TimerWheel`. The object
/// itself takes about 300 bytes, and some 1,500 more once it has a timer. So where there are very many reactors with one timer each,
/// let one more reactor have the timers of them all.
public final class KeyedTimers<Key: Hashable & Sendable, Action: Sendable>: Sendable {
  /// How much later than its delay a timer may fire. All timers that are due within it fire with one wake-up.
  public let resolution: Duration

  @usableFromInline let resolutionNs: Int64
  @usableFromInline let action: @Sendable (Key) -> Action
  private let scheduler: (any SchedulerType)?
  private let timing = Schedulers.timing
  /// Nil until the first timer is set. Not in `owned`, whose layout depends on the key: code that is not specialised, as that of ``now``,
  /// would copy all of it to read one field.
  private let waker = AtomicReference<TimerWaker>()
  /// Only the owner of the reactor uses it.
  @usableFromInline let owned = OwnerIsolated(Owned())

  /// What belongs to the owner of the reactor.
  @usableFromInline
  struct Owned: Sendable {
    @usableFromInline var wheel = TimerWheel<Key>()
    /// The runtime of the reactor; nil until the first timer is set.
    @usableFromInline var runtime: ObjectIdentifier?
    /// The tick for which the wake-up is scheduled.
    @usableFromInline var wakeTick = UInt64.max
    var wakeUp: (any Disposable)?

    @usableFromInline init() {}
  }

  /// Makes timers that send to one reactor, which is known when it sets the first one. The reactor stores them.
  ///
  /// - Parameters:
  ///   - resolution: The length of a tick; at least a microsecond.
  ///   - scheduler: What measures time, and wakes the reactor; nil for the reactor's loop, or with placement
  ///     ``Placement/caller`` for ``Schedulers/timing``. Tests pass virtual time.
  ///   - action: Returns the action for a key whose time is over. Called in a turn of the reactor.
  public init(
    resolution: Duration = .milliseconds(10), on scheduler: (any SchedulerType)? = nil,
    sending action: @escaping @Sendable (Key) -> Action
  ) {
    guard resolution >= .microseconds(1) else {
      fatalError("the resolution of timers is \(resolution); at least a microsecond")
    }
    self.resolution = resolution
    resolutionNs = min(resolution.nanoseconds, .max / 4)
    self.scheduler = scheduler
    self.action = action
  }

  deinit {
    owned.value.wakeUp?.dispose()
    waker.releaseObject()
  }

  // MARK: In turns of the reactor

  /// Starts the timer of a key, or starts it again with the new delay. In a turn of `reactor`, which is always the same.
  ///
  /// - Complexity: O(1), amortized. It allocates only to hold more timers than before, and for a wake-up that must come
  ///   earlier than the one that is scheduled.
  @inlinable
  public func set<R: Reactor>(_ key: Key, after delay: Duration, in reactor: R) where R.Action == Action {
    checkTurn(of: reactor.runtime)
    if owned.value.runtime == nil { connect(to: reactor) }
    let now = now
    // 146 years at most, and the resolution a half of that, so that they add up. Rounded up: never early.
    let wait = min(max(0, delay.nanoseconds), .max / 2) + resolutionNs - 1
    // Virtual time may be near the end of time.
    let sum = now.addingReportingOverflow(wait)
    let due = (sum.overflow ? .max : sum.partialValue) / resolutionNs
    let check = owned.value.wheel.set(key, due: UInt64(due), now: UInt64(now / resolutionNs))
    if check < owned.value.wakeTick { wake(at: check, now: now) }
  }

  /// Ends the timer of a key. In a turn of the reactor.
  ///
  /// - Returns: Whether it was set and has not fired.
  /// - Complexity: O(1).
  @inlinable
  @discardableResult
  public func cancel<R: Reactor>(_ key: Key, in reactor: R) -> Bool where R.Action == Action {
    checkTurn(of: reactor.runtime)
    return owned.value.wheel.cancel(key)
  }

  /// Whether the timer of a key is set and has not fired. In a turn of the reactor.
  ///
  /// - Complexity: O(1).
  @inlinable
  public func isSet<R: Reactor>(_ key: Key, in reactor: R) -> Bool where R.Action == Action {
    checkTurn(of: reactor.runtime)
    return owned.value.wheel.contains(key)
  }

  /// How many timers are set. In a turn of the reactor.
  @inlinable
  public func count<R: Reactor>(in reactor: R) -> Int where R.Action == Action {
    checkTurn(of: reactor.runtime)
    return owned.value.wheel.count
  }

  @inlinable
  func checkTurn<Mutation, State>(of runtime: Runtime<Action, Mutation, State>) {
    guard runtime.isInTurn && (owned.value.runtime ?? ObjectIdentifier(runtime)) == ObjectIdentifier(runtime)
    else {
      fatalError(
        """
        Problem: a timer was used outside of a turn of its reactor.
        Likely cause: the initializer, another reactor or another thread has used it.
        Remedy: let an action of the reactor use it, in mutate.
        """)
    }
    guard runtime.state.form != .replayed || !runtime.state.isChangingInPlace else {
      fatalError(
        """
        Problem: a timer was used in reduce, with SnapshotPolicy.replayed.
        Likely cause: reduce runs twice for each mutation, so a timer that was cancelled or has fired would be set again.
        Remedy: use it in mutate, or in an observer.
        """)
    }
  }

  // MARK: Firing

  /// How many timers fire before the reactor's other actions get their turn.
  private static var batch: Int { 256 }

  /// Processes the actions of the timers that are due, as long as the reactor is open, and schedules the next wake-up: at once if
  /// some are still due. The owner, in a turn.
  ///
  /// - Parameter isEnough: Returns whether the turn must end. At least one timer fires in any case.
  @usableFromInline
  @inline(never)
  func fire(while isOpen: () -> Bool, until isEnough: () -> Bool, _ process: (Action) -> Void) {
    forgetWakeUp()
    let now = now
    var left = Self.batch
    while left > 0, isOpen(), let key = owned.value.wheel.removeFirst(dueBy: UInt64(now / resolutionNs)) {
      process(action(key))
      left -= 1
      if isEnough() { break }
    }
    // The actions may have taken long, and the delay counts from here.
    if let check = owned.value.wheel.nextCheck, check < owned.value.wakeTick {
      wake(at: check, now: self.now)
    }
  }

  /// Drops all timers, since the reactor is closed. The owner, in a turn.
  @usableFromInline
  func end() {
    owned.value.wheel = TimerWheel()
    forgetWakeUp()
  }

  /// Disposes of the wake-up, since another one may have come before it.
  private func forgetWakeUp() {
    owned.value.wakeUp?.dispose()
    owned.value.wakeTick = .max
    owned.value.wakeUp = nil
  }

  /// Schedules the wake-up, in place of the one that is scheduled. The owner, in a turn.
  @usableFromInline
  @inline(never)
  func wake(at tick: UInt64, now: Int64) {
    owned.value.wakeUp?.dispose()
    owned.value.wakeTick = tick
    let time = Int64(clamping: tick).multipliedReportingOverflow(by: resolutionNs)
    owned.value.wakeUp = waker.use { $0.wake(after: (time.overflow ? .max : time.partialValue) - now) }
  }

  /// The present, in nanoseconds. The owner.
  @usableFromInline
  var now: Int64 { waker.use { $0.now } ?? 0 }

  /// Connects the timers to the reactor. Inlinable, since the code that processes actions specialises for its type.
  @inlinable
  @inline(never)
  func connect<R: Reactor>(to reactor: R) where R.Action == Action {
    let weakly = WeakReactor(reactor, part: reactor.runtime)
    connect(to: reactor.runtime.loop) { [weak self] in
      var isAccepted = true
      weakly.use { runtime, reactor in if let self { isAccepted = runtime.fire(self, of: reactor) } }
      return isAccepted
    }
    owned.value.runtime = ObjectIdentifier(reactor.runtime)
  }

  @usableFromInline
  func connect(to loop: LoopState?, _ fire: @escaping @Sendable () -> Bool) {
    _ = waker.setIfNil(TimerWaker(loop: scheduler == nil ? loop : nil, scheduler ?? timing, fire))
  }
}

extension Runtime {
  /// Makes the owner fire the timers that are due, in a step of its own. Any thread, with a reference to the reactor; it does
  /// not wait for room.
  ///
  /// - Returns: False if there is no room for the step.
  @inlinable
  func fire<Key, R: Reactor<Action, Mutation, State>>(
    _ timers: KeyedTimers<Key, Action>, of reactor: R
  ) -> Bool {
    let step = ClosureStep({ [unowned self, unowned reactor] in
      timers.fire(while: { !mailbox.ring.isClosed }, until: { R.isDurable && hasRecordedEnough() }) {
        processAlone($0, of: reactor)
      }
      if mailbox.ring.isClosed { timers.end() }
    })
    let refusal = enqueue(.step(step), to: reactor, .never)
    return refusal == nil || refusal == .closed
  }
}

/// Measures the time of timers, and wakes their reactor.
final class TimerWaker: Sendable {
  private let loop: LoopState?
  private let scheduler: any SchedulerType
  private let fire: @Sendable () -> Bool
  /// Whether the time is that of the system: nearly always, and then it is read without the scheduler.
  private let readsSystemTime: Bool

  /// - Parameters:
  ///   - loop: The loop that wakes; nil if the scheduler does.
  ///   - fire: Called when it is time; returns false if it must be called once more.
  init(loop: LoopState?, _ scheduler: any SchedulerType, _ fire: @escaping @Sendable () -> Bool) {
    (self.loop, self.scheduler, self.fire) = (loop, scheduler, fire)
    readsSystemTime = loop != nil || scheduler is ConcurrentDispatchQueueScheduler
  }

  /// The time in nanoseconds. Any thread.
  var now: Int64 { readsSystemTime ? MonotonicTime.now : scheduler.now.nanoseconds }

  /// Wakes after that many nanoseconds. Any thread.
  func wake(after delay: Int64) -> any Disposable {
    let wake: @Sendable () -> Void = { [self] in
      // Later, if the mailbox is full.
      if !fire() { _ = self.wake(after: 1_000_000) }
    }
    // A loop that has too many jobs already, or is closed, leaves it to the scheduler.
    if let loop, let timer = try? loop.schedule(at: MonotonicTime.after(.nanoseconds(delay)), wake) {
      return timer
    }
    return scheduler.schedule(after: .nanoseconds(max(0, delay)), wake)
  }
}
