extension ObservableType {
  /// The same stream, subscribed to on a scheduler, and there the subscription is ended as well.
  ///
  /// It does not say where events are delivered: ``observe(on:)`` does. Nothing is delivered after the
  /// disposal, even while the source does not know of it yet.
  public func subscribe(on scheduler: any ImmediateSchedulerType) -> Observable<Element> {
    let source = asObservable()
    return Observable { observer in
      let sink = Sink(observer)
      let subscription = SingleAssignmentDisposable()
      let start = scheduler.schedule {
        let running = source.run(AnyObserver { sink.on($0) })
        subscription.hold(Disposables.create { _ = scheduler.schedule(running.dispose) })
      }
      sink.hold(Disposables.create(start, subscription))
      return sink
    }
  }
}
