import Synchronization

/// A stream without its beginning.
extension ObservableType {
  /// The elements after the first `count`.
  public func skip(_ count: Int) -> Observable<Element> {
    if count <= 0 { return asObservable() }
    return lift(count) { sink, element in
      if sink.state == 0 { sink.next(element) } else { sink.state -= 1 }
    }
  }

  /// The elements from the first on for which `predicate` answers false; it is not asked afterwards. Fails if
  /// it throws.
  public func skip(
    while predicate: @escaping @Sendable (Element) throws -> Bool
  ) -> Observable<Element> {
    lift(true) { sink, element in
      if sink.state { sink.state = try predicate(element) }
      if !sink.state { sink.next(element) }
    }
  }

  /// The elements that come after `other` has sent one. Fails if either fails; ends with this stream.
  public func skip(until other: some ObservableType) -> Observable<Element> {
    let source = asObservable()
    let signal = other.asObservable()
    return Observable { observer in
      let funnel = Funnel(observer)
      let door = Door()
      funnel.sources.insert(
        source.run(
          AnyObserver { event in if event.isStopEvent || door.isOpen { funnel.on(event) } }))
      let waiting = SingleAssignmentDisposable()
      funnel.sources.insert(waiting)
      waiting.hold(
        signal.run(
          AnyObserver { event in
            switch event {
            case .next:
              door.open()
              waiting.dispose()
            // Not after its first element: in the middle of its subscription that cannot end it yet.
            case .error(let error): if !door.isOpen { funnel.on(.error(error)) }
            case .completed: break
            }
          }))
      return funnel.sink
    }
  }
}

/// Opens once.
private final class Door: Sendable {
  private let flag = Atomic(false)

  /// Acquire: what the opener did before happens before what goes through.
  var isOpen: Bool { flag.load(ordering: .acquiring) }

  func open() { flag.store(true, ordering: .releasing) }
}
