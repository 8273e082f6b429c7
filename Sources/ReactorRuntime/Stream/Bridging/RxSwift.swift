#if RxSwift
  public import RxSwift

  /// Streams and observers of this package as RxSwift's, and the other way round: with the package trait
  /// `RxSwift`.
  ///
  /// Both modules have an `Observable`. A file that imports both writes `ReactorRuntime.Observable` and
  /// `RxSwift.Observable`, or imports one name: `import class RxSwift.PublishSubject`.
  extension ObservableType {
    /// This stream as RxSwift's.
    ///
    /// Its events come from the threads from which they come here. They keep RxSwift's contract: one at a
    /// time.
    public func asRxObservable() -> RxSwift.Observable<Element> {
      let stream = asObservable()
      return RxSwift.Observable.create { observer in
        let observer = RxBox(observer)
        let subscription = stream.subscribe { observer.value.on($0.asRxEvent()) }
        return RxSwift.Disposables.create { subscription.dispose() }
      }
    }
  }

  extension RxSwift.ObservableConvertibleType where Element: Sendable {
    /// This stream of RxSwift's as one of this package.
    ///
    /// It may break RxSwift's contract and emit from several threads at once: what comes at once is brought
    /// into an order. It is subscribed to on the thread that subscribes.
    public func asReactorObservable() -> Observable<Element> {
      let stream = RxBox(asObservable())
      return .create { observer in
        let subscription = RxBox(stream.value.subscribe { observer.on($0.asReactorEvent()) })
        return Disposables.create { subscription.value.dispose() }
      }
    }
  }

  extension ObserverType {
    /// This observer as RxSwift's: so that a stream of RxSwift's can be bound to ``Reactor/action`` or to a
    /// subject.
    public func asRxObserver() -> RxSwift.AnyObserver<Element> {
      RxSwift.AnyObserver { on($0.asReactorEvent()) }
    }
  }

  extension RxSwift.ObserverType where Element: Sendable {
    /// This observer of RxSwift's as one of this package.
    ///
    /// It is called on the threads that bring the events, and by one at a time only if they come one at a
    /// time.
    public func asReactorObserver() -> AnyObserver<Element> {
      let observer = RxBox(asObserver())
      return AnyObserver { observer.value.on($0.asRxEvent()) }
    }
  }

  extension Event {
    fileprivate func asRxEvent() -> RxSwift.Event<Element> {
      switch self {
      case .next(let element): .next(element)
      case .error(let error): .error(error)
      case .completed: .completed
      }
    }
  }

  extension RxSwift.Event where Element: Sendable {
    fileprivate func asReactorEvent() -> Event<Element> {
      switch self {
      case .next(let element): .next(element)
      case .error(let error): .error(error)
      case .completed: .completed
      }
    }
  }

  // Unchecked: RxSwift does not say so by types, but by contract: its streams may be subscribed to, its
  // observers told one event at a time, and its subscriptions disposed, on any thread.
  private struct RxBox<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
  }
#endif
