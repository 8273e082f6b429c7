/// A stream whose events are delivered on the main queue: the result of ``ObservableType/observe(on:)-(MainScheduler)`` with
/// ``MainScheduler``.
///
/// The closures of its subscriptions are on the main actor, so they may touch views and whatever else is. That is checked at
/// each call. It is a stream, with all operators. What these return is an ``Observable``, whose closures are on no actor; so for
/// a view, `observe(on:)` comes last. Where an ``Observable`` is expected, the compiler takes the other `observe(on:)`; a variable
/// is one if its type is written: `let request: Observable<Mutation> = …`.
public struct MainObservable<Element: Sendable>: ObservableType {
  private let stream: Observable<Element>

  init(_ stream: Observable<Element>) { self.stream = stream }

  public func asObservable() -> Observable<Element> { stream }
}

extension ObservableType {
  /// Delivers the same events on the main queue, to closures on the main actor; see ``MainObservable``.
  public func observe(on scheduler: MainScheduler) -> MainObservable<Element> {
    MainObservable(observe(on: scheduler as any ImmediateSchedulerType))
  }
}

extension MainObservable {
  /// Calls a closure on the main actor with each event.
  @discardableResult
  public func subscribe(_ on: @escaping @MainActor (Event<Element>) -> Void) -> any Disposable {
    stream.subscribe { event in MainActor.assumeIsolated { on(event) } }
  }

  /// Calls closures with what the stream delivers, on the main actor; `onDisposed` on the thread that ends the subscription.
  ///
  /// - Parameters:
  ///   - onNext: Called with each element.
  ///   - onError: Called if the stream fails. Without it, ``Hooks/defaultErrorHandler`` is called.
  ///   - onCompleted: Called when the stream has completed.
  ///   - onDisposed: Called once at the end of any kind, the last of these closures.
  @discardableResult
  public func subscribe(
    onNext: (@MainActor (Element) -> Void)? = nil, onError: (@MainActor (any Error) -> Void)? = nil,
    onCompleted: (@MainActor () -> Void)? = nil, onDisposed: (@Sendable () -> Void)? = nil
  ) -> any Disposable {
    let failed: (@Sendable (any Error) -> Void)?
    if let onError {
      failed = { error in MainActor.assumeIsolated { onError(error) } }
    } else {
      failed = nil
    }
    return stream.subscribe(
      onNext: { element in MainActor.assumeIsolated { onNext?(element) } }, onError: failed,
      onCompleted: { MainActor.assumeIsolated { onCompleted?() } }, onDisposed: onDisposed)
  }

  /// As ``subscribe(onNext:onError:onCompleted:onDisposed:)``, with an object that the subscription does not retain. After
  /// the object is destroyed, no closure is called.
  @discardableResult
  public func subscribe<Object: AnyObject & Sendable>(
    with object: Object, onNext: (@MainActor (Object, Element) -> Void)? = nil,
    onError: (@MainActor (Object, any Error) -> Void)? = nil,
    onCompleted: (@MainActor (Object) -> Void)? = nil, onDisposed: (@Sendable (Object) -> Void)? = nil
  ) -> any Disposable {
    let failed: (@MainActor (any Error) -> Void)?
    if let onError {
      failed = { [weak object] error in if let object { onError(object, error) } }
    } else {
      failed = nil
    }
    return subscribe(
      onNext: { [weak object] element in if let object { onNext?(object, element) } }, onError: failed,
      onCompleted: { [weak object] in if let object { onCompleted?(object) } },
      onDisposed: { [weak object] in if let object { onDisposed?(object) } })
  }

  /// Calls a closure on the main actor with each element.
  @discardableResult
  public func bind(onNext: @escaping @MainActor (Element) -> Void) -> any Disposable {
    subscribe(onNext: onNext)
  }

  /// Calls a closure on the main actor with an object and each element. The subscription does not retain the object.
  @discardableResult
  public func bind<Object: AnyObject & Sendable>(
    with object: Object, onNext: @escaping @MainActor (Object, Element) -> Void
  ) -> any Disposable { subscribe(with: object, onNext: onNext) }
}
