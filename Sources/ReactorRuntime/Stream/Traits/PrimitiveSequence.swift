import Synchronization

/// A stream with a narrower grammar than an ``Observable`` has: a ``Single``, a ``Maybe`` or a ``Completable``.
///
/// It is a thin type over a stream: nothing happens until a subscription, each subscription begins anew, and it costs
/// what its stream costs. ``asObservable()`` returns that stream, which has all operators. Operators that take streams,
/// such as `flatMap`, take these as well.
public struct PrimitiveSequence<Trait: Sendable, Element: Sendable>: ObservableConvertibleType {
  @usableFromInline let stream: Observable<Element>

  /// The stream must keep the grammar of the trait.
  @inlinable
  init(trusted stream: Observable<Element>) { self.stream = stream }

  @inlinable
  public func asObservable() -> Observable<Element> { stream }
}

/// A grammar that has an element: that of a ``Single``, or of a ``Maybe``.
public protocol ElementTrait: Sendable {}

/// The grammar of a ``Single``.
public enum SingleTrait: ElementTrait {}

/// The grammar of a ``Maybe``.
public enum MaybeTrait: ElementTrait {}

/// The grammar of a ``Completable``.
public enum CompletableTrait: Sendable {}

/// A ``PrimitiveSequence``, or a ``MainPrimitiveSequence``, which has the same operators.
public protocol PrimitiveSequenceType<Trait, Element>: ObservableConvertibleType {
  /// The grammar.
  associatedtype Trait: Sendable

  /// This as a ``PrimitiveSequence``.
  var primitiveSequence: PrimitiveSequence<Trait, Element> { get }
}

extension PrimitiveSequence: PrimitiveSequenceType {
  public var primitiveSequence: PrimitiveSequence<Trait, Element> { self }
}

extension PrimitiveSequenceType {
  var stream: Observable<Element> { asObservable() }
}

/// How each kind is made.
extension PrimitiveSequence {
  /// Returns what `factory` makes, anew for each subscription. Fails if `factory` throws.
  public static func deferred(_ factory: @escaping @Sendable () throws -> Self) -> Self {
    Self(trusted: .deferred { try factory().stream })
  }

  /// Uses a resource during each subscription; see ``Observable/using(_:observableFactory:)``.
  public static func using<Resource: Disposable>(
    _ resourceFactory: @escaping @Sendable () throws -> Resource,
    primitiveSequenceFactory: @escaping @Sendable (Resource) throws -> Self
  ) -> Self {
    Self(trusted: .using(resourceFactory) { try primitiveSequenceFactory($0).stream })
  }
}

/// What each kind has: the operators that leave the grammar as it is.
extension PrimitiveSequenceType {
  /// Goes on with what `handler` returns if this fails; see ``ObservableType/catch(_:)``.
  public func `catch`(_ handler: @escaping @Sendable (any Error) throws -> PrimitiveSequence<Trait, Element>)
    -> PrimitiveSequence<Trait, Element>
  {
    PrimitiveSequence(trusted: stream.catch { try handler($0).stream })
  }

  /// Subscribes again whenever this fails; see ``ObservableType/retry()``.
  public func retry() -> PrimitiveSequence<Trait, Element> { PrimitiveSequence(trusted: stream.retry()) }

  /// Subscribes again when this fails, at most `maxAttemptCount` times in all, at least once.
  ///
  /// - Precondition: `maxAttemptCount` is positive. None at all would not be one result.
  public func retry(_ maxAttemptCount: Int) -> PrimitiveSequence<Trait, Element> {
    guard maxAttemptCount > 0 else { fatalError("a result takes at least one attempt") }
    return PrimitiveSequence(trusted: stream.retry(maxAttemptCount))
  }

  /// Subscribes again after a failure, when the stream that `notificationHandler` returns sends an element, as
  /// `retry(when:)` of a stream does.
  ///
  /// If the stream of the handler completes, there is no result.
  public func retry<Trigger: ObservableConvertibleType>(
    when notificationHandler: @escaping @Sendable (Observable<any Error>) -> Trigger
  ) -> PrimitiveSequence<Trait, Element> {
    PrimitiveSequence(trusted: stream.retry(when: notificationHandler))
  }

  /// As the other `retry(when:)`, for errors of one type.
  @_disfavoredOverload
  public func retry<Failure: Error, Trigger: ObservableConvertibleType>(
    when notificationHandler: @escaping @Sendable (Observable<Failure>) -> Trigger
  ) -> PrimitiveSequence<Trait, Element> {
    PrimitiveSequence(trusted: stream.retry(when: notificationHandler))
  }

  /// Delivers on a scheduler; see ``ObservableType/observe(on:)-(ImmediateSchedulerType)``.
  // Disfavored, so that `MainScheduler` gives a `MainPrimitiveSequence` where that is possible.
  @_disfavoredOverload
  public func observe(on scheduler: any ImmediateSchedulerType) -> PrimitiveSequence<Trait, Element> {
    PrimitiveSequence(trusted: stream.observe(on: scheduler))
  }

  /// Subscribes on a scheduler; see ``ObservableType/subscribe(on:)``.
  public func subscribe(on scheduler: any ImmediateSchedulerType) -> PrimitiveSequence<Trait, Element> {
    PrimitiveSequence(trusted: stream.subscribe(on: scheduler))
  }

  /// Delivers a time later; see ``ObservableType/delay(_:scheduler:)``.
  public func delay(_ dueTime: RxTimeInterval, scheduler: any SchedulerType = Schedulers.timing)
    -> PrimitiveSequence<Trait, Element>
  {
    PrimitiveSequence(trusted: stream.delay(dueTime, scheduler: scheduler))
  }

  /// Subscribes a time later; see ``ObservableType/delaySubscription(_:scheduler:)``.
  public func delaySubscription(
    _ dueTime: RxTimeInterval, scheduler: any SchedulerType = Schedulers.timing
  ) -> PrimitiveSequence<Trait, Element> {
    PrimitiveSequence(trusted: stream.delaySubscription(dueTime, scheduler: scheduler))
  }

  /// Fails with ``RxError/timeout`` if the result does not come in time.
  public func timeout(_ dueTime: RxTimeInterval, scheduler: any SchedulerType = Schedulers.timing)
    -> PrimitiveSequence<Trait, Element>
  {
    // The first element is the result, also if the completion comes later than the timeout.
    PrimitiveSequence(trusted: stream.timeout(dueTime, scheduler: scheduler).take(1))
  }

  /// Goes on with another one if the result does not come in time.
  public func timeout(
    _ dueTime: RxTimeInterval, other: PrimitiveSequence<Trait, Element>,
    scheduler: any SchedulerType = Schedulers.timing
  ) -> PrimitiveSequence<Trait, Element> {
    PrimitiveSequence(trusted: stream.timeout(dueTime, other: other.stream, scheduler: scheduler).take(1))
  }

  /// Prints subscriptions, events and disposals; see ``ObservableType/debug(_:trimOutput:file:line:function:)``.
  public func debug(
    _ identifier: String? = nil, trimOutput: Bool = false, file: String = #file, line: UInt = #line,
    function: String = #function
  ) -> PrimitiveSequence<Trait, Element> {
    PrimitiveSequence(
      trusted: stream.debug(
        identifier, trimOutput: trimOutput, file: file, line: line, function: function))
  }
}

extension PrimitiveSequence where Trait: ElementTrait, Element: FixedWidthInteger {
  /// Returns what sends 0 after a time.
  public static func timer(
    _ dueTime: RxTimeInterval, scheduler: any SchedulerType = Schedulers.timing
  ) -> Self { Self(trusted: .timer(dueTime, scheduler: scheduler)) }
}

extension PrimitiveSequence {
  /// Returns what sends the first result of each subscription; the results after that one are ignored.
  ///
  /// - Parameters:
  ///   - subscribe: Called at each subscription, with the closure that receives the results.
  ///   - send: Sends the events of a result, in the grammar of the trait.
  static func firstResult<Result>(
    of subscribe: @escaping @Sendable (@escaping @Sendable (Result) -> Void) -> any Disposable,
    _ send: @escaping @Sendable (Result, AnyObserver<Element>) -> Void
  ) -> Self {
    Self(
      trusted: .create { observer in
        let first = FirstCall()
        return subscribe { result in if first.tryPass() { send(result, observer) } }
      })
  }
}

/// Lets one of several callers through: the first, on any threads.
final class FirstCall: Sendable {
  private let isOver = Atomic(false)

  // Relaxed: it only chooses one caller, and publishes nothing.
  func tryPass() -> Bool { !isOver.exchange(true, ordering: .relaxed) }
}
