/// A stream without elements: it completes, or fails.
public typealias Completable = PrimitiveSequence<CompletableTrait, Never>

/// The result of a ``Completable``.
public enum CompletableEvent: Sendable {
  /// It has failed.
  case error(any Error)
  /// It has succeeded.
  case completed
}

/// How a completable is made.
extension PrimitiveSequence where Trait == CompletableTrait, Element == Never {
  /// Receives the result of a completable. Any threads may call it; the first call counts.
  public typealias CompletableObserver = @Sendable (CompletableEvent) -> Void

  /// Returns a completable of the result that `subscribe` sends. Each subscription calls `subscribe` anew, and disposes
  /// of what it returns after the result or when it is disposed of itself.
  public static func create(
    subscribe: @escaping @Sendable (@escaping CompletableObserver) -> any Disposable
  ) -> Completable {
    Completable(
      trusted: .create { observer in
        subscribe { result in
          switch result {
          case .error(let error): observer.onError(error)
          case .completed: observer.onCompleted()
          }
        }
      })
  }

  /// Returns a completable that completes at once.
  public static func empty() -> Completable { Completable(trusted: .empty()) }

  /// Returns a completable that fails at once.
  public static func error(_ error: any Error) -> Completable { Completable(trusted: .error(error)) }

  /// Returns a completable without a result.
  public static func never() -> Completable { Completable(trusted: .never()) }
}

/// Subscriptions.
// Disfavored, so that a ``MainPrimitiveSequence`` takes closures on the main actor.
extension PrimitiveSequenceType where Trait == CompletableTrait, Element == Never {
  /// Calls a closure with the result.
  @discardableResult
  @_disfavoredOverload
  public func subscribe(_ observer: @escaping @Sendable (CompletableEvent) -> Void) -> any Disposable {
    stream.subscribe { event in
      switch event {
      case .error(let error): observer(.error(error))
      case .completed: observer(.completed)
      }
    }
  }

  /// Calls closures with the result.
  ///
  /// - Parameters:
  ///   - onCompleted: Called after a success.
  ///   - onError: Called with the error. Without it, ``Hooks/defaultErrorHandler`` is called.
  ///   - onDisposed: Called once at the end of any kind, the last of these closures.
  @discardableResult
  @_disfavoredOverload
  public func subscribe(
    onCompleted: (@Sendable () -> Void)? = nil, onError: (@Sendable (any Error) -> Void)? = nil,
    onDisposed: (@Sendable () -> Void)? = nil
  ) -> any Disposable {
    stream.subscribe(onError: onError, onCompleted: onCompleted, onDisposed: onDisposed)
  }

  /// As ``subscribe(onCompleted:onError:onDisposed:)``, with an object that the subscription does not retain. After the
  /// object is destroyed, no closure is called.
  @discardableResult
  @_disfavoredOverload
  public func subscribe<Object: AnyObject & Sendable>(
    with object: Object, onCompleted: (@Sendable (Object) -> Void)? = nil,
    onError: (@Sendable (Object, any Error) -> Void)? = nil,
    onDisposed: (@Sendable (Object) -> Void)? = nil
  ) -> any Disposable {
    stream.subscribe(with: object, onError: onError, onCompleted: onCompleted, onDisposed: onDisposed)
  }
}

extension PrimitiveSequenceType where Trait == CompletableTrait, Element == Never {
  /// Waits, in a task, until this has completed. Cancelling the task disposes of the subscription.
  ///
  /// - Throws: The error of the completable, or `CancellationError`.
  public var value: Void {
    get async throws {
      var iterator = stream.throwingValues.makeAsyncIterator()
      _ = try await iterator.next()
      try Task.checkCancellation()
    }
  }
}

/// Operators.
extension PrimitiveSequenceType where Trait == CompletableTrait, Element == Never {
  /// Goes on with `second` once this has completed.
  public func andThen<Result>(_ second: Single<Result>) -> Single<Result> {
    Single(trusted: following(second.stream))
  }

  /// Goes on with `second` once this has completed.
  public func andThen<Result>(_ second: Maybe<Result>) -> Maybe<Result> {
    Maybe(trusted: following(second.stream))
  }

  /// Goes on with `second` once this has completed.
  public func andThen(_ second: Completable) -> Completable { Completable(trusted: following(second.stream)) }

  /// Goes on with `second` once this has completed.
  public func andThen<Result>(_ second: Observable<Result>) -> Observable<Result> { following(second) }

  /// As `catch`, and unlike `concat`, it disposes of the subscription that has ended after the next one has begun. So a source that
  /// both share goes on.
  private func following<Result>(_ second: Observable<Result>) -> Observable<Result> {
    // One that is known to have completed.
    if stream.isImmediate { return second }
    let first = stream.map { (_: Never) -> Result in }
    return first.followed { $0.isCompleted ? second : nil }
  }

  /// Goes on with `second` once this has completed and its subscription was disposed of.
  public func concat(_ second: Completable) -> Completable {
    Completable(trusted: stream.concat(second.stream))
  }

  /// Calls closures as the result passes; see
  /// ``ObservableType/do(onNext:afterNext:onError:afterError:onCompleted:afterCompleted:onSubscribe:onSubscribed:onDispose:)``.
  public func `do`(
    onError: (@Sendable (any Error) throws -> Void)? = nil,
    afterError: (@Sendable (any Error) throws -> Void)? = nil,
    onCompleted: (@Sendable () throws -> Void)? = nil, afterCompleted: (@Sendable () throws -> Void)? = nil,
    onSubscribe: (@Sendable () -> Void)? = nil, onSubscribed: (@Sendable () -> Void)? = nil,
    onDispose: (@Sendable () -> Void)? = nil
  ) -> Completable {
    Completable(
      trusted: stream.do(
        onError: onError, afterError: afterError, onCompleted: onCompleted, afterCompleted: afterCompleted,
        onSubscribe: onSubscribe, onSubscribed: onSubscribed, onDispose: onDispose))
  }
}

/// Several completables as one.
extension PrimitiveSequence where Trait == CompletableTrait, Element == Never {
  /// Runs one after the other. Completes with the last one. Fails as soon as one fails.
  public static func concat(_ completables: Completable...) -> Completable { concat(completables) }

  /// Runs one after the other. Completes with the last one. Fails as soon as one fails.
  ///
  /// The sequence is read once, by this call, so it must be finite.
  public static func concat(_ completables: some Sequence<Completable>) -> Completable {
    Completable(trusted: .concat(completables.map(\.stream)))
  }

  /// Runs all at the same time. Completes when all have completed. Fails as soon as one fails.
  public static func zip(_ completables: Completable...) -> Completable { merge(completables) }

  /// Runs all at the same time. Completes when all have completed. Fails as soon as one fails.
  public static func zip(_ completables: some Collection<Completable>) -> Completable {
    merge(completables)
  }

  /// Runs all at the same time. Completes when all have completed. Fails as soon as one fails.
  public static func merge(_ completables: Completable...) -> Completable { merge(completables) }

  /// Runs all at the same time. Completes when all have completed. Fails as soon as one fails.
  public static func merge(_ completables: some Collection<Completable>) -> Completable {
    Completable(trusted: .merge(completables.map(\.stream)))
  }
}
