/// A ``Single``, ``Maybe`` or ``Completable`` whose result is delivered on the main queue: what `observe(on:)` returns with
/// ``MainScheduler``.
///
/// The closures of its subscriptions are on the main actor, as those of a ``MainObservable``. It has all operators; what these
/// return is a ``PrimitiveSequence``, whose closures are on no actor. Where exactly that is expected, such as a ``Single``, the
/// compiler takes the other `observe(on:)`; a variable is one if its type is written: `let login: Single<User> = …`.
public struct MainPrimitiveSequence<Trait: Sendable, Element: Sendable>: PrimitiveSequenceType {
  public let primitiveSequence: PrimitiveSequence<Trait, Element>

  fileprivate init(_ primitiveSequence: PrimitiveSequence<Trait, Element>) {
    self.primitiveSequence = primitiveSequence
  }

  public func asObservable() -> Observable<Element> { primitiveSequence.stream }
}

extension PrimitiveSequenceType {
  /// Delivers on the main queue, to closures on the main actor; see ``MainPrimitiveSequence``.
  public func observe(on scheduler: MainScheduler) -> MainPrimitiveSequence<Trait, Element> {
    MainPrimitiveSequence(observe(on: scheduler as any ImmediateSchedulerType))
  }
}

extension MainPrimitiveSequence where Trait == SingleTrait {
  /// Calls a closure on the main actor with the result.
  @discardableResult
  public func subscribe(_ observer: @escaping @MainActor (SingleEvent<Element>) -> Void) -> any Disposable {
    primitiveSequence.subscribe { result in MainActor.assumeIsolated { observer(result) } }
  }

  /// Calls closures on the main actor with the result; `onDisposed` on the thread that ends the subscription. See
  /// ``PrimitiveSequenceType/subscribe(onSuccess:onFailure:onDisposed:)``.
  @discardableResult
  public func subscribe(
    onSuccess: (@MainActor (Element) -> Void)? = nil, onFailure: (@MainActor (any Error) -> Void)? = nil,
    onDisposed: (@Sendable () -> Void)? = nil
  ) -> any Disposable {
    primitiveSequence.subscribe(
      onSuccess: onMain(onSuccess), onFailure: onMain(onFailure), onDisposed: onDisposed)
  }

  /// As ``subscribe(onSuccess:onFailure:onDisposed:)``, with an object that the subscription does not retain. After the
  /// object is destroyed, no closure is called.
  @discardableResult
  public func subscribe<Object: AnyObject & Sendable>(
    with object: Object, onSuccess: (@MainActor (Object, Element) -> Void)? = nil,
    onFailure: (@MainActor (Object, any Error) -> Void)? = nil,
    onDisposed: (@Sendable (Object) -> Void)? = nil
  ) -> any Disposable {
    primitiveSequence.subscribe(
      with: object, onSuccess: onMain(onSuccess), onFailure: onMain(onFailure), onDisposed: onDisposed)
  }
}

extension MainPrimitiveSequence where Trait == MaybeTrait {
  /// Calls a closure on the main actor with the result.
  @discardableResult
  public func subscribe(_ observer: @escaping @MainActor (MaybeEvent<Element>) -> Void) -> any Disposable {
    primitiveSequence.subscribe { result in MainActor.assumeIsolated { observer(result) } }
  }

  /// Calls closures on the main actor with the result; `onDisposed` on the thread that ends the subscription. See
  /// ``PrimitiveSequenceType/subscribe(onSuccess:onError:onCompleted:onDisposed:)``.
  @discardableResult
  public func subscribe(
    onSuccess: (@MainActor (Element) -> Void)? = nil, onError: (@MainActor (any Error) -> Void)? = nil,
    onCompleted: (@MainActor () -> Void)? = nil, onDisposed: (@Sendable () -> Void)? = nil
  ) -> any Disposable {
    primitiveSequence.subscribe(
      onSuccess: onMain(onSuccess), onError: onMain(onError), onCompleted: onMain(onCompleted),
      onDisposed: onDisposed)
  }

  /// As ``subscribe(onSuccess:onError:onCompleted:onDisposed:)``, with an object that the subscription does not retain. After
  /// the object is destroyed, no closure is called.
  @discardableResult
  public func subscribe<Object: AnyObject & Sendable>(
    with object: Object, onSuccess: (@MainActor (Object, Element) -> Void)? = nil,
    onError: (@MainActor (Object, any Error) -> Void)? = nil,
    onCompleted: (@MainActor (Object) -> Void)? = nil, onDisposed: (@Sendable (Object) -> Void)? = nil
  ) -> any Disposable {
    primitiveSequence.subscribe(
      with: object, onSuccess: onMain(onSuccess), onError: onMain(onError), onCompleted: onMain(onCompleted),
      onDisposed: onDisposed)
  }
}

extension MainPrimitiveSequence where Trait == CompletableTrait, Element == Never {
  /// Calls a closure on the main actor with the result.
  @discardableResult
  public func subscribe(_ observer: @escaping @MainActor (CompletableEvent) -> Void) -> any Disposable {
    primitiveSequence.subscribe { result in MainActor.assumeIsolated { observer(result) } }
  }

  /// Calls closures on the main actor with the result; `onDisposed` on the thread that ends the subscription. See
  /// ``PrimitiveSequenceType/subscribe(onCompleted:onError:onDisposed:)``.
  @discardableResult
  public func subscribe(
    onCompleted: (@MainActor () -> Void)? = nil, onError: (@MainActor (any Error) -> Void)? = nil,
    onDisposed: (@Sendable () -> Void)? = nil
  ) -> any Disposable {
    primitiveSequence.subscribe(
      onCompleted: onMain(onCompleted), onError: onMain(onError), onDisposed: onDisposed)
  }

  /// As ``subscribe(onCompleted:onError:onDisposed:)``, with an object that the subscription does not retain. After the object
  /// is destroyed, no closure is called.
  @discardableResult
  public func subscribe<Object: AnyObject & Sendable>(
    with object: Object, onCompleted: (@MainActor (Object) -> Void)? = nil,
    onError: (@MainActor (Object, any Error) -> Void)? = nil,
    onDisposed: (@Sendable (Object) -> Void)? = nil
  ) -> any Disposable {
    primitiveSequence.subscribe(
      with: object, onCompleted: onMain(onCompleted), onError: onMain(onError), onDisposed: onDisposed)
  }
}

// Return closures that are called on the main queue, and check that at each call; nil for nil.

private func onMain(_ body: (@MainActor () -> Void)?) -> (@Sendable () -> Void)? {
  guard let body else { return nil }
  return { MainActor.assumeIsolated { body() } }
}

private func onMain<A: Sendable>(_ body: (@MainActor (A) -> Void)?) -> (@Sendable (A) -> Void)? {
  guard let body else { return nil }
  return { a in MainActor.assumeIsolated { body(a) } }
}

private func onMain<A: Sendable, B: Sendable>(
  _ body: (@MainActor (A, B) -> Void)?
) -> (@Sendable (A, B) -> Void)? {
  guard let body else { return nil }
  return { a, b in MainActor.assumeIsolated { body(a, b) } }
}
