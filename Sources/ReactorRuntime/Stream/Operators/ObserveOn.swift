import ReactorCore

extension ObservableType {
  /// The same events, in order and one at a time, delivered on a scheduler, whether or not that runs several
  /// things at once. Stop events come after the elements before them.
  ///
  /// Elements wait in memory. A source that is faster than the observer sleeps while 1024 of them wait and
  /// the scheduler is at work on another thread. It does not sleep before the scheduler has begun, nor if
  /// that would wait for itself, because then the scheduler may need the source's thread: rather more memory
  /// than a deadlock or a loss.
  public func observe(on scheduler: any ImmediateSchedulerType) -> Observable<Element> {
    let source = asObservable()
    return Observable { observer in
      let sink = Sink(observer)
      let line = DeliveryLine(sink, scheduler)
      let subscription = SingleAssignmentDisposable()
      sink.hold(Disposables.create(subscription, Disposables.create(with: line.close)))
      subscription.hold(source.run(AnyObserver { line.submit($0) }))
      return sink
    }
  }
}

/// Events on their way to a scheduler.
///
/// While any wait there is one action scheduled, a turn, which delivers what waits when it begins. What comes
/// meanwhile is left to the next turn, so that others get their turns as well.
private final class DeliveryLine<Element: Sendable>: Sendable {
  private struct Queue: Sendable {
    var waiting: [Event<Element>] = []
    /// A turn is scheduled or running.
    var hasTurn = false
    /// How many turns there were; the present one's number.
    var turns = 0
    /// What cancels the present turn.
    var turn: (any Disposable)?
    /// The token of the thread whose turn is running; 0 if none is.
    var runner: UInt64 = 0
    var isClosed = false

    /// Notes that a turn is to be scheduled, and answers its number.
    mutating func beginTurn() -> Int {
      hasTurn = true
      turns += 1
      return turns
    }
  }

  private let queue = SystemMutex(Queue())
  private let sink: Sink<Element>
  private let scheduler: any ImmediateSchedulerType

  init(_ sink: Sink<Element>, _ scheduler: any ImmediateSchedulerType) {
    self.sink = sink
    self.scheduler = scheduler
  }

  /// Takes an event. One thread at a time.
  func submit(_ event: Event<Element>) {
    let me = CurrentCore.threadToken
    var mustWait = false
    let turn: Int? = queue.withLock { queue in
      if queue.isClosed { return nil }
      queue.waiting.append(event)
      mustWait = queue.waiting.count > Crowd.limit && queue.runner != 0 && queue.runner != me
      if queue.hasTurn { return nil }
      return queue.beginTurn()
    }
    if let turn { schedule(turn) }
    if mustWait { waitForRoom(me) }
  }

  /// Forgets what waits and what comes. Any thread.
  func close() {
    let (forgotten, turn) = queue.withLock { queue in
      queue.isClosed = true
      defer {
        queue.waiting = []
        queue.turn = nil
      }
      return (queue.waiting, queue.turn)
    }
    turn?.dispose()
    if forgotten.count > Crowd.limit { Crowd.notify() }
  }

  private func schedule(_ number: Int) {
    let turn = scheduler.schedule { self.run() }
    // It may have run by now, and the next one may be scheduled: then nobody needs to cancel it.
    let isClosed = queue.withLock { queue in
      if queue.hasTurn, queue.turns == number, !queue.isClosed { queue.turn = turn }
      return queue.isClosed
    }
    if isClosed { turn.dispose() }
  }

  private func run() {
    let me = CurrentCore.threadToken
    let batch = queue.withLock { queue in
      queue.runner = me
      queue.turn = nil
      defer { queue.waiting = [] }
      return queue.waiting
    }
    if batch.count > Crowd.limit { Crowd.notify() }
    for event in batch where !sink.isOver { sink.on(event) }
    var isCrowded = false
    let next: Int? = queue.withLock { queue in
      queue.runner = 0
      isCrowded = queue.waiting.count > Crowd.limit
      queue.hasTurn = false
      return queue.waiting.isEmpty ? nil : queue.beginTurn()
    }
    // Who sleeps does so only during a turn.
    if isCrowded { Crowd.notify() }
    if let next { schedule(next) }
  }

  private var hasRoom: Bool { queue.withLock { $0.runner == 0 || $0.waiting.count <= Crowd.limit } }

  private func waitForRoom(_ me: UInt64) {
    Crowd.wait(me, handler: { [self] in queue.withLock { $0.runner } }, hasRoom: { [self] in hasRoom })
  }
}
