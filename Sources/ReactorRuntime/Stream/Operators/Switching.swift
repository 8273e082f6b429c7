import Synchronization

/// The newest of several streams.
extension ObservableType {
  /// The elements of the stream that `selector` has made of the last element: the one before is ended. Once
  /// the switch is made, nothing of an older stream is sent any more.
  ///
  /// Ends well when this stream and the last of those have; fails as soon as one fails or `selector` throws.
  public func flatMapLatest<Inner: ObservableType>(
    _ selector: @escaping @Sendable (Element) throws -> Inner
  ) -> Observable<Inner.Element> {
    let source = asObservable()
    return Observable<Inner.Element> { observer in
      let switcher = Switcher(observer)
      let outer = source.run(
        AnyObserver { event in
          switch event {
          case .next(let element):
            if switcher.isOver { return }
            do { switcher.go(to: try selector(element).asObservable()) } catch { switcher.fail(error) }
          case .error(let error): switcher.fail(error)
          case .completed: switcher.outerCompleted()
          }
        })
      return switcher.hold(outer)
    }
  }

  /// The elements of the last stream that this stream has sent; see ``flatMapLatest(_:)``.
  public func switchLatest() -> Observable<Element.Element> where Element: ObservableType {
    flatMapLatest { $0 }
  }
}

/// One subscription of `flatMapLatest`. What sends the streams does so one at a time.
private final class Switcher<Element: Sendable>: Sendable {
  private enum Input: Sendable {
    /// What the stream of that number says.
    case inner(UInt64, Event<Element>)
    case outerCompleted
    case failed(any Error)
  }

  private struct Progress: Sendable {
    var outerHasCompleted = false
    /// The number of the last stream that has completed.
    var completed: UInt64 = 0
  }

  /// The number of the stream that may send, from 1 on.
  private final class Number: Sendable { let current = Atomic<UInt64>(0) }

  private let inner = SerialDisposable()
  private let number: Number
  private let junction: Junction<Progress, Input, Element>

  init(_ observer: AnyObserver<Element>) {
    let number = Number()
    self.number = number
    junction = Junction(observer, Progress()) { sink, progress, input in
      // Asked here and not when it was sent: it may have been waiting during the switch. Acquire: as in `go`.
      let current = number.current.load(ordering: .acquiring)
      switch input {
      case .inner(let sender, let event):
        if sender != current { return }
        if !event.isCompleted { return sink.on(event) }
        progress.completed = sender
      case .outerCompleted: progress.outerHasCompleted = true
      case .failed(let error): return sink.fail(error)
      }
      if progress.outerHasCompleted, progress.completed == current { sink.complete() }
    }
    junction.sources.insert(inner)
  }

  var isOver: Bool { junction.sink.isOver }

  func hold(_ outer: any Disposable) -> any Disposable {
    junction.sources.insert(outer)
    return junction.sink
  }

  func go(to stream: Observable<Element>) {
    // Release: who sees the new number sees what was done before the switch. Only this thread adds now.
    let mine = number.current.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue
    let subscription = SingleAssignmentDisposable()
    inner.disposable = subscription
    subscription.hold(
      stream.run(
        AnyObserver { [junction] event in
          junction.submit(.inner(mine, event))
          // What has ended need not be kept until the next switch.
          if event.isStopEvent { subscription.dispose() }
        }))
  }

  func fail(_ error: any Error) { junction.submit(.failed(error)) }

  func outerCompleted() { junction.submit(.outerCompleted) }
}
