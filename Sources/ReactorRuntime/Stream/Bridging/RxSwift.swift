#if RxSwift
  public import RxSwift

  /// Conversions between the streams and observers of this package and those of RxSwift. They need the
  /// package trait `RxSwift`.
  ///
  /// Both modules have an `Observable`. A file that imports both writes `ReactorRuntime.Observable` and
  /// `RxSwift.Observable`, or imports one name: `import class RxSwift.PublishSubject`.
  extension ObservableType {
    /// Returns this stream as one of RxSwift.
    ///
    /// Its events come on the threads on which they come here. They keep RxSwift's contract: one at a time.
    ///
    /// Many operators of RxSwift hold a lock while they call their observers. This package does not know these locks. If a
    /// thread that holds one waits here for room that only a second thread can make, and the second thread waits for the
    /// lock, both wait for ever.
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
    /// Returns this stream as one of this package.
    ///
    /// It may break RxSwift's contract and emit on several threads at the same time: the events are then
    /// delivered one at a time. It is subscribed to on the thread that subscribes. What it emits while that subscribes is emitted in
    /// whole, also if nobody wants more: an endless stream of that kind, such as RxSwift's `repeatElement`, never returns.
    public func asReactorObservable() -> Observable<Element> {
      let stream = RxBox(asObservable())
      return .create { observer in
        let subscription = RxBox(stream.value.subscribe { observer.on($0.asReactorEvent()) })
        return Disposables.create { subscription.value.dispose() }
      }
    }
  }

  extension ObserverType {
    /// Returns this observer as one of RxSwift, so that a stream of RxSwift can be bound to it.
    public func asRxObserver() -> RxSwift.AnyObserver<Element> {
      RxSwift.AnyObserver { on($0.asReactorEvent()) }
    }
  }

  extension RxSwift.ObserverType where Element: Sendable {
    /// Returns this observer as one of this package.
    ///
    /// It is called on the threads that bring the events, and one at a time only if the events come one at a
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

  // Unchecked: RxSwift's types do not say so, but its contract does: any thread may subscribe to its streams,
  // call its observers with one event at a time, and dispose of its subscriptions.
  private struct RxBox<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
  }
#endif
