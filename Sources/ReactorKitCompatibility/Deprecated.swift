import ReactorRuntime

// Spellings of RxSwift 5 that RxSwift 6 has deprecated, and of older versions of ReactorKit, that code for ReactorKit still
// contains.

@available(*, unavailable, message: "Use the placement: let runtime = Runtime<…>(on: .loop(loop))")
public typealias Scheduler = ImmediateSchedulerType

// Not deprecated: a file that imports another module with a `View` could not use that.
@available(*, unavailable, renamed: "ReactorView")
public typealias View = ReactorView

@available(*, deprecated, renamed: "DeferredReactorView")
public typealias StoryboardView = DeferredReactorView

extension Stub {
  @available(*, deprecated, message: "Use the reactor's isStubEnabled.")
  public var isEnabled: Bool {
    get { reactor?.isStubEnabled ?? false }
    nonmutating set { reactor?.isStubEnabled = newValue }
  }
}

extension ObservableType {
  @available(*, deprecated, renamed: "catch(_:)")
  public func catchError(
    _ handler: @escaping @Sendable (any Error) throws -> Observable<Element>
  ) -> Observable<Element> { `catch`(handler) }

  @available(*, deprecated, renamed: "catchAndReturn(_:)")
  public func catchErrorJustReturn(_ element: Element) -> Observable<Element> { catchAndReturn(element) }

  @available(*, deprecated, renamed: "take(until:)")
  public func takeUntil(_ other: some ObservableConvertibleType) -> Observable<Element> { take(until: other) }

  @available(*, deprecated, renamed: "take(until:behavior:)")
  public func takeUntil(
    _ behavior: TakeBehavior, predicate: @escaping @Sendable (Element) throws -> Bool
  ) -> Observable<Element> { take(until: predicate, behavior: behavior) }

  @available(*, deprecated, renamed: "take(while:)")
  public func takeWhile(
    _ predicate: @escaping @Sendable (Element) throws -> Bool
  ) -> Observable<Element> { take(while: predicate) }

  @available(*, deprecated, renamed: "skip(until:)")
  public func skipUntil(_ other: some ObservableConvertibleType) -> Observable<Element> { skip(until: other) }

  @available(*, deprecated, renamed: "skip(while:)")
  public func skipWhile(
    _ predicate: @escaping @Sendable (Element) throws -> Bool
  ) -> Observable<Element> { skip(while: predicate) }

  // Disfavored, so that `MainScheduler` gives a `MainObservable` where that is possible.
  @available(*, deprecated, renamed: "observe(on:)")
  @_disfavoredOverload
  public func observeOn(_ scheduler: any ImmediateSchedulerType) -> Observable<Element> {
    observe(on: scheduler)
  }

  @available(*, deprecated, renamed: "observe(on:)")
  public func observeOn(_ scheduler: MainScheduler) -> MainObservable<Element> { observe(on: scheduler) }

  @available(*, deprecated, renamed: "subscribe(on:)")
  public func subscribeOn(_ scheduler: any ImmediateSchedulerType) -> Observable<Element> {
    subscribe(on: scheduler)
  }

  @available(*, deprecated, renamed: "retry(when:)")
  public func retryWhen<Trigger: ObservableConvertibleType>(
    _ notificationHandler: @escaping @Sendable (Observable<any Error>) -> Trigger
  ) -> Observable<Element> { retry(when: notificationHandler) }

  @available(*, deprecated, renamed: "retry(when:)")
  @_disfavoredOverload
  public func retryWhen<Failure: Error, Trigger: ObservableConvertibleType>(
    _ notificationHandler: @escaping @Sendable (Observable<Failure>) -> Trigger
  ) -> Observable<Element> { retry(when: notificationHandler) }

  @available(*, deprecated, renamed: "take(for:scheduler:)")
  public func take(
    _ duration: RxTimeInterval, scheduler: any SchedulerType = Schedulers.timing
  ) -> Observable<Element> { take(for: duration, scheduler: scheduler) }
}

extension PrimitiveSequenceType {
  @available(*, deprecated, renamed: "catch(_:)")
  public func catchError(
    _ handler: @escaping @Sendable (any Error) throws -> PrimitiveSequence<Trait, Element>
  ) -> PrimitiveSequence<Trait, Element> { `catch`(handler) }

  // Disfavored, so that `MainScheduler` gives a `MainPrimitiveSequence` where that is possible.
  @available(*, deprecated, renamed: "observe(on:)")
  @_disfavoredOverload
  public func observeOn(_ scheduler: any ImmediateSchedulerType) -> PrimitiveSequence<Trait, Element> {
    observe(on: scheduler)
  }

  @available(*, deprecated, renamed: "observe(on:)")
  public func observeOn(_ scheduler: MainScheduler) -> MainPrimitiveSequence<Trait, Element> {
    observe(on: scheduler)
  }

  @available(*, deprecated, renamed: "subscribe(on:)")
  public func subscribeOn(_ scheduler: any ImmediateSchedulerType) -> PrimitiveSequence<Trait, Element> {
    subscribe(on: scheduler)
  }

  @available(*, deprecated, renamed: "retry(when:)")
  public func retryWhen<Trigger: ObservableConvertibleType>(
    _ notificationHandler: @escaping @Sendable (Observable<any Error>) -> Trigger
  ) -> PrimitiveSequence<Trait, Element> { retry(when: notificationHandler) }

  @available(*, deprecated, renamed: "retry(when:)")
  @_disfavoredOverload
  public func retryWhen<Failure: Error, Trigger: ObservableConvertibleType>(
    _ notificationHandler: @escaping @Sendable (Observable<Failure>) -> Trigger
  ) -> PrimitiveSequence<Trait, Element> { retry(when: notificationHandler) }
}

extension PrimitiveSequenceType where Trait == SingleTrait {
  @available(*, deprecated, renamed: "catchAndReturn(_:)")
  public func catchErrorJustReturn(_ element: Element) -> Single<Element> { catchAndReturn(element) }

  // Disfavored, so that a `MainPrimitiveSequence` takes closures on the main actor.
  @available(*, deprecated, renamed: "subscribe(onSuccess:onFailure:onDisposed:)")
  @discardableResult
  @_disfavoredOverload
  public func subscribe(
    onSuccess: (@Sendable (Element) -> Void)? = nil, onError: @escaping @Sendable (any Error) -> Void,
    onDisposed: (@Sendable () -> Void)? = nil
  ) -> any Disposable { subscribe(onSuccess: onSuccess, onFailure: onError, onDisposed: onDisposed) }
}

extension MainPrimitiveSequence where Trait == SingleTrait {
  @available(*, deprecated, renamed: "subscribe(onSuccess:onFailure:onDisposed:)")
  @discardableResult
  public func subscribe(
    onSuccess: (@MainActor (Element) -> Void)? = nil, onError: @escaping @MainActor (any Error) -> Void,
    onDisposed: (@Sendable () -> Void)? = nil
  ) -> any Disposable { subscribe(onSuccess: onSuccess, onFailure: onError, onDisposed: onDisposed) }
}

extension PrimitiveSequenceType where Trait == MaybeTrait {
  @available(*, deprecated, renamed: "catchAndReturn(_:)")
  public func catchErrorJustReturn(_ element: Element) -> Maybe<Element> { catchAndReturn(element) }
}
