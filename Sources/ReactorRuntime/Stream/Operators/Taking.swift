/// What becomes of the element at which ``ObservableType/take(until:behavior:)`` ends.
public enum TakeBehavior: Sendable {
  /// It is sent.
  case inclusive
  /// It is not sent.
  case exclusive
}

/// The beginning of a stream.
extension ObservableType {
  /// The first `count` elements; completes with the last of them. With a count of 0 or less it is empty, and
  /// this stream is not subscribed to.
  public func take(_ count: Int) -> Observable<Element> {
    if count <= 0 { return .empty() }
    return lift(count) { sink, element in
      sink.state -= 1
      sink.next(element)
      if sink.state == 0 { sink.complete() }
    }
  }

  /// The elements up to the first for which `predicate` answers false; completes there. Fails if it throws.
  public func take(
    while predicate: @escaping @Sendable (Element) throws -> Bool, behavior: TakeBehavior = .exclusive
  ) -> Observable<Element> {
    take(until: { try !predicate($0) }, behavior: behavior)
  }

  /// The elements up to the first for which `predicate` answers true; completes there. Fails if it throws.
  public func take(
    until predicate: @escaping @Sendable (Element) throws -> Bool, behavior: TakeBehavior = .exclusive
  ) -> Observable<Element> {
    lift(()) { sink, element in
      let isLast = try predicate(element)
      if !isLast || behavior == .inclusive { sink.next(element) }
      if isLast { sink.complete() }
    }
  }

  /// This stream until `other` sends an element; then it completes, on the thread that sent it and before
  /// that send returns, unless an element is being delivered: then right after that.
  ///
  /// `other` is subscribed to first. If it fails, so does the result; if it just ends, this stream goes on.
  public func take(until other: some ObservableType) -> Observable<Element> {
    let source = asObservable()
    let signal = other.asObservable()
    return Observable { observer in
      let scope = SupersedeScope()
      let funnel = Funnel(scope.wrap(observer))
      funnel.sources.insert(
        scope.hold(
          signal.run(
            AnyObserver { event in
              switch event {
              // Once: while an element is being delivered, the end waits.
              case .next: if scope.end() { funnel.on(.completed) }
              case .error(let error): funnel.on(.error(error))
              case .completed: break
              }
            })))
      if !funnel.sink.isOver { funnel.sources.insert(source.run(AnyObserver { funnel.on($0) })) }
      return funnel.sink
    }
  }
}
