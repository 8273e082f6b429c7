/// A stream of at most one element: an element, or a completion without one, or an error.
public typealias Maybe<Element: Sendable> = PrimitiveSequence<MaybeTrait, Element>

/// The result of a ``Maybe``.
public enum MaybeEvent<Element: Sendable>: Sendable {
  /// There is an element.
  case success(Element)
  /// It has failed.
  case error(any Error)
  /// There is no element.
  case completed
}

/// How a maybe is made.
extension PrimitiveSequence where Trait == MaybeTrait {
  /// Receives the result of a maybe. Any threads may call it; the first call counts.
  public typealias MaybeObserver = @Sendable (MaybeEvent<Element>) -> Void

  /// Returns a maybe of the result that `subscribe` sends. Each subscription calls `subscribe` anew, and disposes of
  /// what it returns after the result or when it is disposed of itself.
  public static func create(
    subscribe: @escaping @Sendable (@escaping MaybeObserver) -> any Disposable
  ) -> Maybe<Element> {
    firstResult(of: subscribe) { result, observer in
      switch result {
      case .success(let element):
        observer.onNext(element)
        observer.onCompleted()
      case .error(let error): observer.onError(error)
      case .completed: observer.onCompleted()
      }
    }
  }

  /// Returns a maybe of an element that is known at once.
  public static func just(_ element: Element) -> Maybe<Element> { Maybe(trusted: .just(element)) }

  /// Returns a maybe without an element.
  public static func empty() -> Maybe<Element> { Maybe(trusted: .empty()) }

  /// Returns a maybe that fails at once.
  public static func error(_ error: any Error) -> Maybe<Element> { Maybe(trusted: .error(error)) }

  /// Returns a maybe without a result.
  public static func never() -> Maybe<Element> { Maybe(trusted: .never()) }
}

/// Subscriptions.
// Disfavored, so that a ``MainPrimitiveSequence`` takes closures on the main actor.
extension PrimitiveSequenceType where Trait == MaybeTrait {
  /// Calls a closure with the result.
  @discardableResult
  @_disfavoredOverload
  public func subscribe(_ observer: @escaping @Sendable (MaybeEvent<Element>) -> Void) -> any Disposable {
    let first = FirstCall()
    return stream.subscribe { event in
      // The completion that follows the element is not a result of its own.
      guard first.tryPass() else { return }
      switch event {
      case .next(let element): observer(.success(element))
      case .error(let error): observer(.error(error))
      case .completed: observer(.completed)
      }
    }
  }

  /// Calls closures with the result: one of the first three.
  ///
  /// - Parameters:
  ///   - onSuccess: Called with the element.
  ///   - onError: Called with the error. Without it, ``Hooks/defaultErrorHandler`` is called.
  ///   - onCompleted: Called if there is no element.
  ///   - onDisposed: Called once at the end of any kind, the last of these closures.
  @discardableResult
  @_disfavoredOverload
  public func subscribe(
    onSuccess: (@Sendable (Element) -> Void)? = nil, onError: (@Sendable (any Error) -> Void)? = nil,
    onCompleted: (@Sendable () -> Void)? = nil, onDisposed: (@Sendable () -> Void)? = nil
  ) -> any Disposable {
    let first = FirstCall()
    return stream.subscribe(
      onNext: { element in
        _ = first.tryPass()
        onSuccess?(element)
      }, onError: onError, onCompleted: { if first.tryPass() { onCompleted?() } }, onDisposed: onDisposed)
  }

  /// As ``subscribe(onSuccess:onError:onCompleted:onDisposed:)``, with an object that the subscription does not retain. After
  /// the object is destroyed, no closure is called.
  @discardableResult
  @_disfavoredOverload
  public func subscribe<Object: AnyObject & Sendable>(
    with object: Object, onSuccess: (@Sendable (Object, Element) -> Void)? = nil,
    onError: (@Sendable (Object, any Error) -> Void)? = nil,
    onCompleted: (@Sendable (Object) -> Void)? = nil, onDisposed: (@Sendable (Object) -> Void)? = nil
  ) -> any Disposable {
    let first = FirstCall()
    return stream.subscribe(
      with: object,
      onNext: { object, element in
        _ = first.tryPass()
        onSuccess?(object, element)
      }, onError: onError, onCompleted: { object in if first.tryPass() { onCompleted?(object) } },
      onDisposed: onDisposed)
  }
}

extension PrimitiveSequenceType where Trait == MaybeTrait {
  /// The element, or nil if there is none, for a task. Cancelling the task disposes of the subscription.
  ///
  /// - Throws: The error of the maybe, or `CancellationError`.
  public var value: Element? {
    get async throws {
      for try await element in stream.throwingValues { return element }
      try Task.checkCancellation()
      return nil
    }
  }
}

/// Operators.
extension PrimitiveSequenceType where Trait == MaybeTrait {
  /// Transforms the element. Fails if `transform` throws.
  public func map<Result>(
    _ transform: @escaping @Sendable (Element) throws -> Result
  ) -> Maybe<Result> { Maybe(trusted: stream.map(transform)) }

  /// Transforms the element; empty if `transform` returns nil. Fails if it throws.
  public func compactMap<Result>(
    _ transform: @escaping @Sendable (Element) throws -> Result?
  ) -> Maybe<Result> { Maybe(trusted: stream.compactMap(transform)) }

  /// The element, or empty if `predicate` returns false. Fails if it throws.
  public func filter(_ predicate: @escaping @Sendable (Element) throws -> Bool) -> Maybe<Element> {
    Maybe(trusted: stream.filter(predicate))
  }

  /// Goes on with the maybe that `selector` returns for the element. Fails if it throws.
  public func flatMap<Result>(
    _ selector: @escaping @Sendable (Element) throws -> Maybe<Result>
  ) -> Maybe<Result> { Maybe(trusted: stream.flatMap(selector)) }

  /// Goes on with the completable that `selector` returns for the element. Fails if it throws.
  public func flatMapCompletable(
    _ selector: @escaping @Sendable (Element) throws -> Completable
  ) -> Completable { Completable(trusted: stream.flatMap(selector)) }

  /// The element, or `element` if there is none.
  public func ifEmpty(default element: Element) -> Single<Element> {
    ifEmpty(switchTo: Single.just(element))
  }

  /// The element; if there is none, the result of `other`.
  public func ifEmpty(switchTo other: Single<Element>) -> Single<Element> {
    Single(trusted: orElse(other.stream))
  }

  /// The element; if there is none, the result of `other`.
  public func ifEmpty(switchTo other: Maybe<Element>) -> Maybe<Element> {
    Maybe(trusted: orElse(other.stream))
  }

  /// If this fails, sends `element`.
  public func catchAndReturn(_ element: Element) -> Maybe<Element> {
    Maybe(trusted: stream.catchAndReturn(element))
  }

  /// Calls closures as the result passes; see
  /// ``ObservableType/do(onNext:afterNext:onError:afterError:onCompleted:afterCompleted:onSubscribe:onSubscribed:onDispose:)``.
  ///
  /// `onCompleted` and `afterCompleted` are called with and without an element, as in RxSwift. What `onCompleted` throws
  /// after an element, and what `afterNext` throws, comes too late to be the result, and is passed to
  /// ``Hooks/defaultErrorHandler``.
  public func `do`(
    onNext: (@Sendable (Element) throws -> Void)? = nil,
    afterNext: (@Sendable (Element) throws -> Void)? = nil,
    onError: (@Sendable (any Error) throws -> Void)? = nil,
    afterError: (@Sendable (any Error) throws -> Void)? = nil,
    onCompleted: (@Sendable () throws -> Void)? = nil, afterCompleted: (@Sendable () throws -> Void)? = nil,
    onSubscribe: (@Sendable () -> Void)? = nil, onSubscribed: (@Sendable () -> Void)? = nil,
    onDispose: (@Sendable () -> Void)? = nil
  ) -> Maybe<Element> {
    let stream = stream
    return .deferred {
      let element = FirstCall()
      return Maybe(
        trusted: stream.do(
          onNext: {
            try onNext?($0)
            _ = element.tryPass()
          }, afterNext: reportingErrors(of: afterNext), onError: onError, afterError: afterError,
          onCompleted: {
            do { try onCompleted?() } catch {
              guard element.tryPass() else { return Hooks.defaultErrorHandler(error) }
              throw error
            }
          }, afterCompleted: afterCompleted, onSubscribe: onSubscribe, onSubscribed: onSubscribed,
          onDispose: onDispose))
    }
  }

  /// The element as a single; fails with ``RxError/noElements`` if there is none.
  public func asSingle() -> Single<Element> { stream.asSingle() }

  /// Only whether this succeeds.
  public func asCompletable() -> Completable { Completable(trusted: stream.ignoreElements()) }

  private func orElse(_ other: Observable<Element>) -> Observable<Element> {
    let stream = stream
    return .deferred {
      let element = FirstCall()
      let noted = stream.do(onNext: { _ in _ = element.tryPass() })
      // As `andThen`: a source that both share goes on.
      return noted.followed { $0.isCompleted && element.tryPass() ? other : nil }
    }
  }
}
