import ReactorCore
import Synchronization

// Operators that decide, when a stream ends, which one is subscribed to next, while others go on: `merge(maxConcurrent:)`,
// `concatMap`, `retry(when:)`.

/// Several streams, not all at the same time.
extension ObservableType {
  /// Merges all streams that this stream sends, at most `maxConcurrent` of them at the same time. The others wait, in
  /// their order, until one has completed.
  ///
  /// Up to 65,536 streams wait, where RxSwift has no limit; with one more the result fails with ``RxError/overflow``.
  /// Completes when this stream and all of the others have completed. Fails as soon as one fails.
  ///
  /// - Precondition: `maxConcurrent` is positive.
  @inlinable
  public func merge(maxConcurrent: Int) -> Observable<Element.Element>
  where Element: ObservableConvertibleType { merged(maxConcurrent: maxConcurrent) { $0 } }

  /// Sends all streams that this stream sends, one after the other; see ``merge(maxConcurrent:)``.
  @inlinable
  public func concat() -> Observable<Element.Element> where Element: ObservableConvertibleType {
    merged(maxConcurrent: 1) { $0 }
  }

  /// Sends the streams that `selector` returns for the elements, one after the other; see ``merge(maxConcurrent:)``.
  /// `selector` is called when its element comes. Fails if it throws.
  @inlinable
  public func concatMap<Inner: ObservableConvertibleType>(
    _ selector: @escaping @Sendable (Element) throws -> Inner
  ) -> Observable<Inner.Element> { merged(maxConcurrent: 1, selector) }

  @inlinable
  func merged<Inner: ObservableConvertibleType>(
    maxConcurrent: Int, _ selector: @escaping @Sendable (Element) throws -> Inner
  ) -> Observable<Inner.Element> {
    guard maxConcurrent > 0 else { fatalError("at least one stream must be allowed to run") }
    let source = asObservable()
    return Observable<Inner.Element> { observer in
      let coordinator = Coordinator<LimitedMerge<Inner.Element>>(
        observer, LimitedMerge(limit: maxConcurrent))
      coordinator.run(source) { event in
        switch event {
        case .next(let element):
          if coordinator.isEnding { return }
          do { coordinator.submit(.stream(try selector(element).asObservable())) } catch {
            coordinator.fail(error)
          }
        case .error(let error): coordinator.fail(error)
        case .completed: coordinator.submit(.outerCompleted)
        }
      }
      return coordinator.serialized.sink
    }
  }
}

/// Going on after a failure, when another stream says so.
extension ObservableType {
  /// Subscribes to this stream again after a failure, when the stream that `notificationHandler` returns sends an
  /// element: `retry(when: { $0.delay(.seconds(1)) })`.
  ///
  /// The failed subscription is disposed of before the handler's stream receives the error. An element that it sends
  /// while this stream is running has no effect. If the handler's stream has ended, the result ends in the same way after
  /// the next failure. It completes with this stream.
  ///
  /// - Parameter notificationHandler: Called once for each subscription, with the stream of the errors.
  @inlinable
  public func retry<Trigger: ObservableConvertibleType>(
    when notificationHandler: @escaping @Sendable (Observable<any Error>) -> Trigger
  ) -> Observable<Element> {
    retryWhen({ $0 }, notificationHandler)
  }

  /// As the other `retry(when:)`, for errors of one type: `retry(when: { (errors: Observable<NetworkError>) in … })`. With an error of
  /// another type the result fails, whatever the handler's stream does.
  @_disfavoredOverload
  @inlinable
  public func retry<Failure: Error, Trigger: ObservableConvertibleType>(
    when notificationHandler: @escaping @Sendable (Observable<Failure>) -> Trigger
  ) -> Observable<Element> {
    retryWhen({ $0 as? Failure }, notificationHandler)
  }

  /// - Parameter match: Returns the error for the handler; nil if that must not retry.
  @inlinable
  func retryWhen<Failure: Sendable, Trigger: ObservableConvertibleType>(
    _ match: @escaping @Sendable (any Error) -> Failure?,
    _ notificationHandler: @escaping @Sendable (Observable<Failure>) -> Trigger
  ) -> Observable<Element> {
    let source = asObservable()
    return Observable { observer in
      let retry = TriggeredRetry(source, match)
      let coordinator = Coordinator(observer, retry)
      let trigger = notificationHandler(retry.errors.stream).asObservable()
      coordinator.run(trigger) { event in
        switch event {
        case .next: coordinator.submit(.trigger)
        case .error(let error): coordinator.submit(.triggerEnded(.error(error)))
        case .completed: coordinator.submit(.triggerEnded(.completed))
        }
      }
      coordinator.submit(.start)
      return coordinator.serialized.sink
    }
  }
}

/// What an operator of this file does: a state, and decisions about which streams run.
///
/// ``decide(_:_:)`` is called with one input at a time. It subscribes by ``Coordinator/run(_:_:)``; what it causes while it
/// runs, such as the end of a stream inside of its own subscription, is decided afterwards. So nothing recurses.
@usableFromInline
protocol Coordination<Element>: Sendable {
  associatedtype Element: Sendable
  associatedtype Input: Sendable

  mutating func decide(_ input: Input, _ coordinator: Coordinator<Self>)
}

/// The two kinds of stop events.
@usableFromInline
enum StopEvent: Sendable { case completion, failure }

/// One subscription of an operator of this file. Elements do not wait for decisions: they pass through ``serialized``.
@usableFromInline
final class Coordinator<Operation: Coordination>: Sendable {
  /// A decision to make, with the subscription that it concerns, so that the drain need not retain its owner.
  @usableFromInline
  struct Signal: Sendable {
    @usableFromInline let input: Operation.Input
    @usableFromInline let coordinator: Coordinator

    @inlinable
    init(input: Operation.Input, coordinator: Coordinator) {
      (self.input, self.coordinator) = (input, coordinator)
    }
  }

  @usableFromInline let serialized: SerializedSink<Operation.Element>
  @usableFromInline let decisions: StatefulDrain<Operation, Signal>
  /// Whether the result fails. The error may still be queued, so that the result is not over.
  // Relaxed: the error itself passes through the queue.
  @usableFromInline let isFailing = Atomic(false)

  @inlinable
  init(_ observer: AnyObserver<Operation.Element>, _ operation: Operation) {
    serialized = SerializedSink(observer)
    decisions = StatefulDrain(operation) { operation, signal in
      if !signal.coordinator.isEnding { operation.decide(signal.input, signal.coordinator) }
    }
    serialized.sources.insert(decisions)
  }

  /// Whether no stream begins any more, and no decision is made: the result is over, or fails.
  @inlinable
  var isEnding: Bool { serialized.sink.isOver || isFailing.load(ordering: .relaxed) }

  /// Makes the result fail.
  @inlinable
  func fail(_ error: any Error) {
    isFailing.store(true, ordering: .relaxed)
    serialized.on(.error(error))
  }

  /// Makes a decision, or leaves that to the thread that is making another. Any thread.
  @inlinable
  func submit(_ input: Operation.Input) { decisions.submit(Signal(input: input, coordinator: self)) }

  /// Calls `body` when the other streams have had their turns, unless the result has ended before.
  @inlinable
  func schedule(_ body: @escaping @Sendable () -> Void) {
    let scheduled = SingleAssignmentDisposable()
    guard let key = serialized.sources.insert(scheduled) else { return }
    scheduled.hold(
      CurrentThreadScheduler.instance.schedule { [self] in
        serialized.sources.remove(for: key)
        if !isEnding { body() }
      })
  }

  /// Subscribes to a stream, which ends with the result. Its subscription is disposed of with its stop event.
  ///
  /// - Parameter first: The stop event before which it is disposed of, as in RxSwift; with another one it is disposed of right
  ///   afterwards. A stream that begins because of the event can tell, if it shares a source with this one.
  @inlinable
  func run<Source: Sendable>(
    _ stream: Observable<Source>, endingBefore first: StopEvent? = nil,
    _ receive: @escaping @Sendable (Event<Source>) -> Void
  ) {
    let subscription = SingleAssignmentDisposable()
    guard let key = serialized.sources.insert(subscription) else { return }
    stream.run(
      AnyObserver { [serialized] event in
        if !event.isStopEvent { return receive(event) }
        if first == (event.isCompleted ? .completion : .failure) { serialized.sources.remove(for: key) }
        receive(event)
        serialized.sources.remove(for: key)
      }, heldBy: subscription)
  }
}

@usableFromInline
struct LimitedMerge<Element: Sendable>: Coordination {
  @usableFromInline
  enum Input: Sendable {
    case stream(Observable<Element>)
    case innerCompleted
    case outerCompleted
  }

  @usableFromInline let limit: Int
  @usableFromInline var waiting = WaitingElements<Observable<Element>>()
  @usableFromInline var running = 0
  @usableFromInline var outerHasCompleted = false

  @inlinable
  init(limit: Int) { self.limit = limit }

  @inlinable
  mutating func decide(_ input: Input, _ coordinator: Coordinator<Self>) {
    switch input {
    case .stream(let stream):
      do { try waiting.appendUpToLimit(stream) } catch { return coordinator.fail(error) }
    case .innerCompleted:
      running -= 1
      if let next = waiting.takeFirst() {
        running += 1
        // After what other streams still have to emit, as in RxSwift.
        return coordinator.schedule { Self.begin(next, coordinator) }
      }
    case .outerCompleted: outerHasCompleted = true
    }
    if running < limit, let next = waiting.takeFirst() {
      running += 1
      Self.begin(next, coordinator)
    } else if outerHasCompleted, running == 0 {
      coordinator.serialized.on(.completed)
    }
  }

  @inlinable
  static func begin(_ stream: Observable<Element>, _ coordinator: Coordinator<Self>) {
    coordinator.run(stream, endingBefore: .completion) { event in
      switch event {
      case .next: coordinator.serialized.on(event)
      case .error(let error): coordinator.fail(error)
      case .completed: coordinator.submit(.innerCompleted)
      }
    }
  }
}

@usableFromInline
struct TriggeredRetry<Element: Sendable, Failure: Sendable>: Coordination {
  @usableFromInline
  enum Input: Sendable {
    case start
    case failed(any Error)
    case trigger
    case triggerEnded(Event<Element>)
  }

  @usableFromInline let source: Observable<Element>
  @usableFromInline let match: @Sendable (any Error) -> Failure?
  @usableFromInline let errors = SubjectCore<Failure>(RecentElements(limit: 0))
  /// Whether the source has failed and was not subscribed to again.
  @usableFromInline var isWaiting = false
  /// The stop event of the trigger. It takes effect at a failure.
  @usableFromInline var triggerEnd: Event<Element>?

  @inlinable
  init(_ source: Observable<Element>, _ match: @escaping @Sendable (any Error) -> Failure?) {
    (self.source, self.match) = (source, match)
  }

  @inlinable
  mutating func decide(_ input: Input, _ coordinator: Coordinator<Self>) {
    switch input {
    case .start: begin(coordinator)
    case .failed(let error):
      guard let failure = match(error) else { return coordinator.fail(error) }
      isWaiting = true
      if let triggerEnd { coordinator.serialized.on(triggerEnd) } else { errors.on(.next(failure)) }
    case .trigger: if isWaiting { begin(coordinator) }
    case .triggerEnded(let event):
      triggerEnd = event
      if isWaiting { coordinator.serialized.on(event) }
    }
  }

  @inlinable
  mutating func begin(_ coordinator: Coordinator<Self>) {
    isWaiting = false
    coordinator.run(source, endingBefore: .failure) { event in
      if let error = event.error {
        coordinator.submit(.failed(error))
      } else {
        coordinator.serialized.on(event)
      }
    }
  }
}
