extension ObservableType {
  /// What most operators of one source are: `next` gets each element, and the sink to tell what becomes of
  /// it. If it throws, the result fails with that error. The stop event is passed on.
  @inlinable
  @inline(__always)
  func lift<Result, State>(
    _ initial: State, _ next: @escaping @Sendable (StatefulSink<Result, State>, Element) throws -> Void
  ) -> Observable<Result> {
    let source = asObservable()
    return Observable<Result> { observer in
      let sink = StatefulSink<Result, State>(observer, initial)
      sink.hold(
        source.run(
          AnyObserver { event in
            switch event {
            case .next(let element):
              if sink.isOver { return }
              do { try next(sink, element) } catch { sink.fail(error) }
            case .error(let error): sink.fail(error)
            case .completed: sink.complete()
            }
          }))
      return sink
    }
  }
}
