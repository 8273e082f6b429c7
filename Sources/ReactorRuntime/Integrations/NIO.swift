#if NIO
  public import NIOCore
  import ReactorCore
  import Synchronization

  /// Reactors on the event loops of swift-nio. Requires the package trait `NIO`.
  extension Placement {
    /// The turns run on an event loop of swift-nio, which has other work in between.
    ///
    /// ```swift
    /// let session = Session(on: .eventLoop(channel.eventLoop))
    /// ```
    ///
    /// All reactors of one event loop share a loop: see ``Loop/hosted(by:)``. Any thread.
    ///
    /// - Parameter eventLoop: The event loop. The reactors retain it.
    public static func eventLoop(_ eventLoop: any EventLoop) -> Placement { .loop(.hosted(by: eventLoop)) }
  }

  extension Loop {
    /// The loop whose rounds an event loop of swift-nio runs. Any thread.
    ///
    /// It is the same one for all callers, as long as something retains it, such as a reactor on it, and it is not shut down.
    /// Its turns, jobs and timers run on the thread of the event loop: there `inEventLoop` is true, and a channel's context may be
    /// used.
    ///
    /// - **Waking.** A send to a loop that has nothing to do submits one task to the event loop. Further sends submit none
    ///   before the rounds are over. After 16 rounds that leave something the event loop gets to its other tasks, and then to its channels:
    ///   the next rounds come 50 µs after those tasks. (With an `EmbeddedEventLoop`, advance its time.)
    /// - **Timers** of the loop are scheduled tasks of the event loop: one for the earliest, and those that were scheduled before an
    ///   earlier timer came. They follow the system's clock, not the virtual time of an `EmbeddedEventLoop` or a
    ///   `NIOAsyncTestingEventLoop`: for tests of timers, ``KeyedTimers`` on ``Placement/caller`` take a scheduler.
    /// - **Waiting.** A send that waits for room blocks the thread that sends, as everywhere. If that is the thread of the event
    ///   loop, it runs the loop's rounds meanwhile, but none of its channels. So code of channels uses ``Reactor/ask(on:before:_:)``,
    ///   or ``Reactor/trySend(_:)`` and ``Reactor/whenRoom(_:)``.
    /// - **Watching.** ``Loop/watch(_:for:_:)`` throws ``WatchError/notPolled``: the event loop has channels for that.
    /// - **The end.** The loop ends when it is shut down, or after the last reference to it. At the end of a service, close the listening
    ///   channel and the connections first, since a connection that is still there can make a reactor, and with it a new loop; then the
    ///   loops, by `try Shutdown.close(loops, before: …)` on any thread; and the event loops' group last. If the event loop was shut down
    ///   first, the next send makes the loop end, and so does the end of its last reference, or a timer that waits; and a thread of
    ///   its own runs what was accepted. But swift-nio prints an error then, since a task was
    ///   submitted to an event loop that was shut down; and stops the program in its strict mode (`SWIFTNIO_STRICT=1`).
    ///
    /// Stops the program, with a message, if there is no memory.
    ///
    /// - Parameter eventLoop: The event loop. The loop retains it.
    public static func hosted(by eventLoop: any EventLoop) -> Loop { EventLoops.shared.loop(of: eventLoop) }
  }

  /// The loops that event loops host.
  private final class EventLoops: Sendable {
    static let shared = EventLoops()

    /// How long the rest of a busy loop waits, so that its event loop looks at its channels: longer than it takes to get there.
    private static var restDelay: TimeAmount { .microseconds(50) }

    /// By their event loops. The loops retain these, so an identifier is not used again while its loop is there.
    private let loops = WeakTable<ObjectIdentifier, Loop>()
    /// How many were made. Relaxed: only their names differ by it.
    private let count = Atomic(0)

    func loop(of eventLoop: any EventLoop) -> Loop {
      // A program makes few event loops.
      let (loop, isNew) = loops.object(
        of: ObjectIdentifier(eventLoop), where: { !$0.state.isClosed },
        orMake: { makeLoop(on: eventLoop) })
      // So that the event loop counts as the host before its first round, if it waits for room in the mailbox of another one.
      if isNew { try? loop.execute {} }
      return loop
    }

    private func makeLoop(on eventLoop: any EventLoop) -> Loop {
      let waking = CalledWaking(
        onTimer: { hosted, delay in
          // Weak: the timer may be cancelled long before its time.
          let call = RoundsCall(of: { [weak hosted] in hosted }) { $0.runUnlessCalled() }
          _ = eventLoop.scheduleTask(in: .nanoseconds(delay.nanoseconds)) { call.run() }
        },
        onWake: { hosted in
          let call = RoundsCall(of: { hosted }) { $0.run() }
          eventLoop.execute { call.run() }
        },
        onRest: { hosted in
          // Not at once: an event loop gets to its channels only when no task is there and no scheduled one is due. Nor is the delay
          // counted from here: the tasks that came during the rounds may take longer.
          let call = RoundsCall(of: { hosted }) { $0.run() }
          eventLoop.execute { _ = eventLoop.scheduleTask(in: Self.restDelay) { call.run() } }
        })
      do {
        let hosted = try HostedLoop(
          name: "event-loop-\(count.wrappingAdd(1, ordering: .relaxed).oldValue)", turnLimit: 1024,
          jobCapacity: 1 << 20, calling: waking, isHost: { eventLoop.inEventLoop })
        return Loop(withoutThread: hosted.loop.state, keeping: hosted)
      } catch {
        fatalError("the loop of an event loop cannot be made: \(error)")
      }
    }
  }

  /// A task of an event loop that runs rounds. An event loop that was shut down prints an error for each task that is submitted,
  /// or stops the program in the strict mode of swift-nio. If it does not, it drops the task, and so this object; as it does with those
  /// that were scheduled before.
  private final class RoundsCall: Sendable {
    private let hosted: @Sendable () -> HostedLoop?
    private let runRounds: @Sendable (HostedLoop) -> Void
    // Relaxed: the event loop runs the task before it releases it.
    private let hasRun = Atomic(false)

    init(
      of hosted: @escaping @Sendable () -> HostedLoop?,
      _ runRounds: @escaping @Sendable (HostedLoop) -> Void
    ) {
      self.hosted = hosted
      self.runRounds = runRounds
    }

    func run() {
      hasRun.store(true, ordering: .relaxed)
      hosted().map(runRounds)
    }

    deinit {
      if hasRun.load(ordering: .relaxed) { return }
      guard let hosted = hosted() else { return }
      // Not here: this may be the middle of a send, or of a turn. Nobody else will run the rounds.
      let end = { @Sendable in hosted.shutdown() }
      if !DedicatedThread.tryDetach(named: "reactor-closing", end) {
        fatalError(
          "an event loop was shut down before its reactors, and the system gives no thread to end them")
      }
    }
  }

  extension Reactor {
    /// Sends an action that carries a reply, and returns a future for the value with which the reactor replies. Any thread, also
    /// inside of turns.
    ///
    /// ```swift
    /// account.ask(on: context.eventLoop) { reply in .balance(reply) }.whenSuccess { … }
    /// ```
    ///
    /// Like ``ask(_:before:completion:)``, except that it does not wait for room on the thread of the event loop: there, what finds
    /// no room is kept beside the mailbox, up to its `reentrantCapacity`, if the ``OverflowPolicy`` is
    /// ``OverflowPolicy/block``.
    ///
    /// - Parameters:
    ///   - eventLoop: The event loop of the future.
    ///   - deadline: When to give up; nil waits without a limit.
    ///   - action: Returns the action for a reply. Called once, on the calling thread.
    /// - Returns: A future that fails with an ``AskError``, if there is no value.
    /// - Complexity: Three allocations, besides those of the future; more with a deadline, for a scheduled task.
    @inlinable
    public func ask<Value: Sendable>(
      on eventLoop: any EventLoop, before deadline: ContinuousClock.Instant? = nil,
      _ action: (Reply<Value>) -> Action
    ) -> EventLoopFuture<Value> {
      eventLoop.futureOfRequest(before: deadline) { receiver in
        runtime.ask(action, receiver, to: self, before: deadline)
      }
    }
  }

  extension KeyedReactors {
    /// Sends an action that carries a reply to the reactor of a key, and returns a future for the value with which it replies. Any
    /// thread, also inside of turns.
    ///
    /// As the form of ``Reactor`` with an event loop, and as ``ask(_:_:before:completion:)``: the reactor is in use until there is a
    /// result.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - eventLoop: The event loop of the future.
    ///   - deadline: When to give up; nil waits without a limit. One that has passed makes no reactor.
    ///   - action: Returns the action for a reply. Called once at most, on the calling thread.
    /// - Returns: A future that fails with an ``AskError``, if there is no value.
    @inlinable
    public func ask<Value: Sendable>(
      _ key: Key, on eventLoop: any EventLoop, before deadline: ContinuousClock.Instant? = nil,
      _ action: (Reply<Value>) -> R.Action
    ) -> EventLoopFuture<Value> {
      let hold = KeyedWait<R>()
      return eventLoop.futureOfRequest(before: deadline, holding: hold) { receiver in
        ask(key, action, receiver, hold, before: deadline)
      }
    }
  }

  extension EventLoopFuture where Value: Sendable {
    /// Returns a stream of the future's value, or of its error. For what `mutate` returns, if a client on swift-nio does the work:
    ///
    /// ```swift
    /// case .load(let id): return database.order(id).asReactorObservable().map { .loaded($0) }
    /// ```
    ///
    /// Each subscription gets the value, on the thread of the future's event loop. There it waits for room in no mailbox: a mutation
    /// that finds none is kept beside it, up to the `reentrantCapacity` of its reactor, and is reported beyond that. The work
    /// that fulfils the future goes on if the subscription is disposed of; but the future no longer keeps what would receive the value.
    public func asReactorObservable() -> Observable<Value> {
      .create { [eventLoop] subscriber in
        let receiver = Mutex<AnyObserver<Value>?>(subscriber)
        self.whenComplete { result in
          guard let observer = receiver.withLock({ $0.take() }) else { return }
          eventLoop.withoutWaiting {
            switch result {
            case .success(let value):
              observer.onNext(value)
              observer.onCompleted()
            case .failure(let error): observer.onError(error)
            }
          }
        }
        // Destroyed after the lock, since it may be the last reference to what it captures.
        return Disposables.create { _ = receiver.withLock { $0.take() } }
      }
    }
  }

  extension EventLoop {
    /// Returns a future for what a request gets, which gives up at a deadline by the clock of the event loop. The asker.
    ///
    /// - Parameters:
    ///   - deadline: When it gives up; nil waits without a limit.
    ///   - held: What is kept until there is a result.
    ///   - send: Sends the request. On the thread of the event loop, it waits for no room.
    @usableFromInline
    func futureOfRequest<Value: Sendable>(
      before deadline: ContinuousClock.Instant?, holding held: (any AnyObject & Sendable)? = nil,
      _ send: (AskingCallback<Value>) -> Void
    ) -> EventLoopFuture<Value> {
      let promise = makePromise(of: Value.self)
      let receiver = AskingCallback<Value> { result in
        withExtendedLifetime(held) { promise.completeWith(result.mapError { $0 }) }
      }
      if let deadline {
        let time = MonotonicTime.presentAndTime(at: deadline)
        let left = TimeAmount.nanoseconds(time.due - time.now)
        let timeout = scheduleTask(in: left) { receiver.giveUp() }
        promise.futureResult.whenComplete { _ in timeout.cancel() }
      }
      withoutWaiting { send(receiver) }
      return promise.futureResult
    }

    /// Calls `body`, on the thread of the event loop as a job of a loop: no send in it waits for room.
    fileprivate func withoutWaiting(_ body: () -> Void) {
      let outer = inEventLoop ? TurnMark.enter() : nil
      body()
      if let outer { TurnMark.leave(outer) }
    }
  }
#endif
