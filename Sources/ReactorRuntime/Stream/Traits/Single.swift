/// A stream of exactly one element, or of an error: the answer to one question.
///
/// ```swift
/// Single<User>.create { single in
///   let request = api.load { result in single(result) }
///   return Disposables.create { request.cancel() }
/// }
/// .subscribe(onSuccess: { print($0) }, onFailure: { print($0) })
/// ```
///
/// Whatever its closures do, and on whatever threads, it never sends two results.
public typealias Single<Element: Sendable> = PrimitiveSequence<SingleTrait, Element>

/// The result of a ``Single``.
public typealias SingleEvent<Element> = Result<Element, any Error>

/// How a single is made.
extension PrimitiveSequence where Trait == SingleTrait {
  /// Receives the result of a single. Any threads may call it; the first call counts.
  public typealias SingleObserver = @Sendable (SingleEvent<Element>) -> Void

  /// Returns a single of the result that `subscribe` sends. Each subscription calls `subscribe` anew, and disposes of
  /// what it returns after the result or when it is disposed of itself.
  public static func create(
    subscribe: @escaping @Sendable (@escaping SingleObserver) -> any Disposable
  ) -> Single<Element> {
    firstResult(of: subscribe) { result, observer in
      switch result {
      case .success(let element):
        observer.onNext(element)
        observer.onCompleted()
      case .failure(let error): observer.onError(error)
      }
    }
  }

  /// Returns a single of an element that is known at once.
  @inlinable
  public static func just(_ element: Element) -> Single<Element> { Single(trusted: .just(element)) }

  /// Returns a single that fails at once.
  @inlinable
  public static func error(_ error: any Error) -> Single<Element> { Single(trusted: .error(error)) }

  /// Returns a single without a result.
  public static func never() -> Single<Element> { Single(trusted: .never()) }
}

/// Subscriptions.
// Disfavored, so that a ``MainPrimitiveSequence`` takes closures on the main actor.
extension PrimitiveSequenceType where Trait == SingleTrait {
  /// Calls a closure with the result.
  @discardableResult
  @_disfavoredOverload
  public func subscribe(_ observer: @escaping @Sendable (SingleEvent<Element>) -> Void) -> any Disposable {
    stream.subscribe { event in
      switch event {
      case .next(let element): observer(.success(element))
      case .error(let error): observer(.failure(error))
      case .completed: break
      }
    }
  }

  /// Calls closures with the result.
  ///
  /// - Parameters:
  ///   - onSuccess: Called with the element.
  ///   - onFailure: Called with the error. Without it, ``Hooks/defaultErrorHandler`` is called.
  ///   - onDisposed: Called once at the end of any kind, the last of these closures.
  @discardableResult
  @_disfavoredOverload
  public func subscribe(
    onSuccess: (@Sendable (Element) -> Void)? = nil, onFailure: (@Sendable (any Error) -> Void)? = nil,
    onDisposed: (@Sendable () -> Void)? = nil
  ) -> any Disposable { stream.subscribe(onNext: onSuccess, onError: onFailure, onDisposed: onDisposed) }

  /// As ``subscribe(onSuccess:onFailure:onDisposed:)``, with an object that the subscription does not retain. After the
  /// object is destroyed, no closure is called.
  @discardableResult
  @_disfavoredOverload
  public func subscribe<Object: AnyObject & Sendable>(
    with object: Object, onSuccess: (@Sendable (Object, Element) -> Void)? = nil,
    onFailure: (@Sendable (Object, any Error) -> Void)? = nil,
    onDisposed: (@Sendable (Object) -> Void)? = nil
  ) -> any Disposable {
    stream.subscribe(with: object, onNext: onSuccess, onError: onFailure, onDisposed: onDisposed)
  }

  /// The element, for a task. Cancelling the task disposes of the subscription.
  ///
  /// - Throws: The error of the single, or `CancellationError`.
  public var value: Element {
    get async throws {
      for try await element in stream.throwingValues { return element }
      throw CancellationError()
    }
  }
}

/// Operators.
extension PrimitiveSequenceType where Trait == SingleTrait {
  /// Transforms the element. Fails if `transform` throws.
  public func map<Result>(
    _ transform: @escaping @Sendable (Element) throws -> Result
  ) -> Single<Result> { Single(trusted: stream.map(transform)) }

  /// Transforms the element; empty if `transform` returns nil. Fails if it throws.
  public func compactMap<Result>(
    _ transform: @escaping @Sendable (Element) throws -> Result?
  ) -> Maybe<Result> { Maybe(trusted: stream.compactMap(transform)) }

  /// The element, or empty if `predicate` returns false. Fails if it throws.
  public func filter(_ predicate: @escaping @Sendable (Element) throws -> Bool) -> Maybe<Element> {
    Maybe(trusted: stream.filter(predicate))
  }

  /// Goes on with the single that `selector` returns for the element. Fails if it throws.
  public func flatMap<Result>(
    _ selector: @escaping @Sendable (Element) throws -> Single<Result>
  ) -> Single<Result> { Single(trusted: stream.flatMap(selector)) }

  /// Goes on with the maybe that `selector` returns for the element. Fails if it throws.
  public func flatMapMaybe<Result>(
    _ selector: @escaping @Sendable (Element) throws -> Maybe<Result>
  ) -> Maybe<Result> { Maybe(trusted: stream.flatMap(selector)) }

  /// Goes on with the completable that `selector` returns for the element. Fails if it throws.
  public func flatMapCompletable(
    _ selector: @escaping @Sendable (Element) throws -> Completable
  ) -> Completable { Completable(trusted: stream.flatMap(selector)) }

  /// If this fails, sends `element`.
  public func catchAndReturn(_ element: Element) -> Single<Element> {
    Single(trusted: stream.catchAndReturn(element))
  }

  /// Calls closures as the result passes; see
  /// ``ObservableType/do(onNext:afterNext:onError:afterError:onCompleted:afterCompleted:onSubscribe:onSubscribed:onDispose:)``.
  ///
  /// An error that `onSuccess` throws replaces the element. What `afterSuccess` throws comes too late to be the result,
  /// and is passed to ``Hooks/defaultErrorHandler``.
  public func `do`(
    onSuccess: (@Sendable (Element) throws -> Void)? = nil,
    afterSuccess: (@Sendable (Element) throws -> Void)? = nil,
    onError: (@Sendable (any Error) throws -> Void)? = nil,
    afterError: (@Sendable (any Error) throws -> Void)? = nil, onSubscribe: (@Sendable () -> Void)? = nil,
    onSubscribed: (@Sendable () -> Void)? = nil, onDispose: (@Sendable () -> Void)? = nil
  ) -> Single<Element> {
    Single(
      trusted: stream.do(
        onNext: onSuccess, afterNext: reportingErrors(of: afterSuccess), onError: onError,
        afterError: afterError, onSubscribe: onSubscribe, onSubscribed: onSubscribed, onDispose: onDispose))
  }

  /// This as a maybe.
  public func asMaybe() -> Maybe<Element> { Maybe(trusted: stream) }

  /// Only whether this succeeds.
  public func asCompletable() -> Completable { Completable(trusted: stream.ignoreElements()) }
}

/// A list of singles.
extension PrimitiveSequence where Trait == SingleTrait {
  /// What `resultSelector` returns for the results of all, in their order; of none, for an empty array. Fails as soon as one
  /// fails.
  public static func zip<Part>(
    _ singles: some Collection<Single<Part>>,
    resultSelector: @escaping @Sendable ([Part]) throws -> Element
  ) -> Single<Element> {
    if singles.isEmpty { return Single<[Part]>.just([]).map(resultSelector) }
    return Single(trusted: .zip(singles.map(\.stream), resultSelector: resultSelector))
  }

  /// The results of all, in their order; of none, an empty array. Fails as soon as one fails.
  public static func zip<Part>(_ singles: some Collection<Single<Part>>) -> Single<[Part]>
  where Element == [Part] { zip(singles) { $0 } }
}

/// Returns a closure that passes what `body` throws to the error handler.
func reportingErrors<Element>(
  of body: (@Sendable (Element) throws -> Void)?
) -> (@Sendable (Element) throws -> Void)? {
  guard let body else { return nil }
  return { element in
    do { try body(element) } catch { Hooks.defaultErrorHandler(error) }
  }
}
