/// Subscriptions.
// Those with closures are disfavored, so that a ``MainObservable``, which is a stream too, takes closures on the main actor.
extension ObservableType {
  /// Delivers the events to an observer, until a stop event or the disposal of the result.
  ///
  /// Elements that are known at once arrive before this returns; but inside of another subscription that is being made, or of
  /// a reactor's turn, those of ``Observable/of(_:)`` and ``Observable/from(_:)-([Element])`` take turns with others, and may
  /// arrive later, before that subscription or turn ends.
  ///
  /// - Returns: The subscription. It need not be kept: a stream goes on until it is disposed of.
  @inlinable
  @discardableResult
  public func subscribe(_ observer: some ObserverType<Element>) -> any Disposable {
    let subscription = SingleAssignmentDisposable()
    asObservable().run(
      AnyObserver { event in
        guard subscription.tryPass(event) else { return }
        observer.on(event)
        if event.isStopEvent { subscription.dispose() }
      }, heldBy: subscription)
    return subscription
  }

  /// Calls a closure with each event.
  @inlinable
  @_disfavoredOverload
  @discardableResult
  public func subscribe(_ on: @escaping @Sendable (Event<Element>) -> Void) -> any Disposable {
    subscribe(AnyObserver(eventHandler: on))
  }

  /// Calls closures with what the stream delivers, one at a time, on the threads on which it delivers.
  ///
  /// - Parameters:
  ///   - onNext: Called with each element.
  ///   - onError: Called if the stream fails. Without it, ``Hooks/defaultErrorHandler`` is called.
  ///   - onCompleted: Called when the stream has completed.
  ///   - onDisposed: Called once at the end of any kind, the last of these closures.
  @inlinable
  @_disfavoredOverload
  @discardableResult
  public func subscribe(
    onNext: (@Sendable (Element) -> Void)? = nil, onError: (@Sendable (any Error) -> Void)? = nil,
    onCompleted: (@Sendable () -> Void)? = nil, onDisposed: (@Sendable () -> Void)? = nil
  ) -> any Disposable {
    let ending = onDisposed.map { ActionDisposable($0) }
    let subscription = SingleAssignmentDisposable()
    // One closure, not one that calls an observer: most elements end here.
    asObservable().run(
      AnyObserver { event in
        guard subscription.tryPass(event) else { return }
        switch event {
        case .next(let element):
          onNext?(element)
          return
        case .error(let error): if let onError { onError(error) } else { Hooks.defaultErrorHandler(error) }
        case .completed: onCompleted?()
        }
        ending?.dispose()
        subscription.dispose()
      }, heldBy: subscription)
    if let ending { return Disposables.create(subscription, ending) }
    return subscription
  }

  /// As ``subscribe(onNext:onError:onCompleted:onDisposed:)``, with an object that the subscription does not
  /// retain. After the object is destroyed, no closure is called.
  @inlinable
  @_disfavoredOverload
  @discardableResult
  public func subscribe<Object: AnyObject & Sendable>(
    with object: Object, onNext: (@Sendable (Object, Element) -> Void)? = nil,
    onError: (@Sendable (Object, any Error) -> Void)? = nil,
    onCompleted: (@Sendable (Object) -> Void)? = nil, onDisposed: (@Sendable (Object) -> Void)? = nil
  ) -> any Disposable {
    let failed: (@Sendable (any Error) -> Void)?
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

  /// Passes the events on to observers, such as subjects.
  @inlinable
  @discardableResult
  public func bind(to observers: any ObserverType<Element>...) -> any Disposable {
    subscribe { event in for observer in observers { observer.on(event) } }
  }

  /// Calls a closure with each element.
  @inlinable
  @_disfavoredOverload
  @discardableResult
  public func bind(onNext: @escaping @Sendable (Element) -> Void) -> any Disposable {
    subscribe(onNext: onNext)
  }

  /// Passes the elements on to observers of optional elements, such as relays.
  @inlinable
  @discardableResult
  public func bind(to observers: any ObserverType<Element?>...) -> any Disposable {
    subscribe { event in for observer in observers { observer.on(event.map { .some($0) }) } }
  }

  /// Calls a closure with an object and each element. The subscription does not retain the object.
  @inlinable
  @_disfavoredOverload
  @discardableResult
  public func bind<Object: AnyObject & Sendable>(
    with object: Object, onNext: @escaping @Sendable (Object, Element) -> Void
  ) -> any Disposable { subscribe(with: object, onNext: onNext) }
}
