import ReactorCore

/// Where a stream is subscribed to, and where its events are delivered.
extension ObservableType {
  /// Delivers the same events on a scheduler, in order and one at a time, whether or not the scheduler runs
  /// several actions at once. A stop event comes after the elements before it.
  ///
  /// Elements that wait for the scheduler are held in memory. A source that is faster than the observer
  /// blocks while 1024 of them wait and the scheduler is delivering on another thread. It does not block
  /// before the scheduler has begun to deliver, because the scheduler may need the source's thread, nor if this
  /// runtime's own waits would form a cycle; then more than 1024 are held.
  ///
  /// - Parameter scheduler: Where the events are delivered. Each of its actions delivers the events that have
  ///   come before it begins; of ``CurrentThreadScheduler`` only one event, so that other streams get their turns.
  // Disfavored, so that `MainScheduler` gives a `MainObservable` where that is possible.
  @_disfavoredOverload
  public func observe(on scheduler: any ImmediateSchedulerType) -> Observable<Element> {
    let source = asObservable()
    return Observable { observer in
      let sink = Sink(observer)
      let delivery = ScheduledDelivery(sink, scheduler)
      let subscription = SingleAssignmentDisposable()
      // Closed first: this releases a thread blocked in `submit`, for which disposing of its source may wait.
      sink.hold(Disposables.create(Disposables.create(with: delivery.close), subscription))
      subscription.hold(source.run(AnyObserver { delivery.submit($0) }))
      return sink
    }
  }

  /// The same stream, subscribed to on a scheduler. Its subscription is disposed of there as well.
  ///
  /// This does not say where events are delivered: ``ObservableType/observe(on:)-(ImmediateSchedulerType)`` does. After the
  /// disposal nothing is delivered, even while the source has not been told of it yet.
  ///
  /// - Parameter scheduler: Where the stream is subscribed to.
  public func subscribe(on scheduler: any ImmediateSchedulerType) -> Observable<Element> {
    let source = asObservable()
    return Observable { observer in
      let sink = Sink(observer)
      let subscription = SingleAssignmentDisposable()
      let start = scheduler.schedule {
        source.joiningQueue {
          let running = source.run(AnyObserver { sink.on($0) })
          subscription.hold(Disposables.create { _ = scheduler.schedule(running.dispose) })
        }
      }
      sink.hold(Disposables.create(start, subscription))
      return sink
    }
  }
}

/// One subscription of `observe(on:)`: a ``SerialDrain`` that is drained by actions of a scheduler.
///
/// While any event is queued, one action is scheduled or running. It delivers one batch, what was queued when
/// it began. What comes meanwhile is left to a further action, so that other actions of the scheduler get
/// their turn.
private final class ScheduledDelivery<Element: Sendable>: Sendable {
  private struct Queue: Sendable {
    var drain = SerialDrain<Event<Element>>()
    /// The number of the newest action.
    var number = 0
    /// Cancels the newest action, unless that has begun.
    private var action: (any Disposable)?

    /// Returns the one before, to be destroyed after the lock.
    mutating func replaceAction(by newest: (any Disposable)?) -> (any Disposable)? {
      defer { action = newest }
      return action
    }
  }

  private let queue = SystemMutex(Queue())
  private let sink: Sink<Element>
  private let scheduler: any ImmediateSchedulerType
  private let deliversOneByOne: Bool

  init(_ sink: Sink<Element>, _ scheduler: any ImmediateSchedulerType) {
    self.sink = sink
    self.scheduler = scheduler
    deliversOneByOne = scheduler is CurrentThreadScheduler
  }

  /// Queues an event. One thread at a time.
  func submit(_ event: Event<Element>) {
    let me = CurrentCore.threadToken
    let (submission, number) = queue.withLock { queue in
      let submission = queue.drain.enqueue(event, on: me)
      if case .becameDrainer = submission { queue.number += 1 }
      return (submission, queue.number)
    }
    switch submission {
    case .refused: break
    case .becameDrainer: schedule(number)
    case .queued(let mustWait): if mustWait { waitForRoom(me) }
    }
  }

  /// Forgets what is queued, and refuses what comes. Any thread.
  func close() {
    let (forgotten, action) = queue.withLock { ($0.drain.close().forgotten, $0.replaceAction(by: nil)) }
    action?.dispose()
    Backpressure.notifyRoom(afterTaking: forgotten.count)
  }

  private func schedule(_ number: Int) {
    let action = scheduler.schedule { self.deliver() }
    // The action may have run by now, and the next one may be scheduled; then nobody needs to cancel this
    // one.
    let (isClosed, replaced) = queue.withLock { queue in
      let isNewest = queue.drain.isActive && queue.number == number && !queue.drain.isClosed
      return (queue.drain.isClosed, isNewest ? queue.replaceAction(by: action) : nil)
    }
    _ = consume replaced
    if isClosed { action.dispose() }
  }

  private func deliver() {
    let me = CurrentCore.threadToken
    let (batch, begun) = queue.withLock { queue in
      (
        deliversOneByOne ? queue.drain.beginWithOne(on: me) : queue.drain.begin(on: me),
        queue.replaceAction(by: nil)
      )
    }
    // It is a scheduler's, and may do anything when it is destroyed.
    _ = consume begun
    Backpressure.notifyRoom(afterTaking: batch.count)
    for event in batch where !sink.isOver { sink.on(event) }
    let (queued, number) = queue.withLock { queue in
      let queued = queue.drain.finish()
      if queued > 0 { queue.number += 1 }
      return (queued, queue.number)
    }
    // No source blocks while an action is only scheduled: see `SerialDrain.hasRoom`.
    Backpressure.notifyRoom(afterTaking: queued)
    if queued > 0 { schedule(number) }
  }

  private func waitForRoom(_ me: UInt64) {
    Backpressure.wait(
      me, drainer: { [self] in queue.withLock { $0.drain.drainer } },
      hasRoom: { [self] in queue.withLock { $0.drain.hasRoom } })
  }
}
