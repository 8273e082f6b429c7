import Synchronization

/// The newest of several streams.
extension ObservableType {
  /// Passes on the stream that `selector` has returned for the last element, and disposes of the one before.
  /// Once the switch is made, nothing of an older stream is passed on.
  ///
  /// Completes when this stream and the last inner stream have completed. Fails as soon as one fails or
  /// `selector` throws.
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
            do { switcher.switchTo(try selector(element).asObservable()) } catch { switcher.fail(error) }
          case .error(let error): switcher.fail(error)
          case .completed: switcher.completeOuter()
          }
        })
      return switcher.hold(outer)
    }
  }

  /// Passes on the last stream that this stream has sent; see ``flatMapLatest(_:)``.
  public func switchLatest() -> Observable<Element.Element> where Element: ObservableType {
    flatMapLatest { $0 }
  }
}

/// One subscription of `flatMapLatest`. The outer stream switches one stream at a time.
private final class Switcher<Element: Sendable>: Sendable {
  private enum Input: Sendable {
    /// An event of the inner stream of that number.
    case inner(UInt64, Event<Element>)
    case outerCompleted
    case failed(any Error)
  }

  private struct Progress: Sendable {
    var outerHasCompleted = false
    /// The number of the last inner stream that has completed.
    var completed: UInt64 = 0
  }

  /// The number of the inner stream that may send, from 1 on.
  private final class Number: Sendable { let current = Atomic<UInt64>(0) }

  private let inner = SerialDisposable()
  private let number: Number
  private let inputs: MultiSourceSink<Progress, Input, Element>

  init(_ observer: AnyObserver<Element>) {
    let number = Number()
    self.number = number
    inputs = MultiSourceSink(observer, Progress()) { sink, progress, input in
      // Read here and not when the event was sent: the event may have been queued during the switch. Acquire:
      // see `switchTo`.
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
    inputs.sources.insert(inner)
  }

  var isOver: Bool { inputs.sink.isOver }

  func hold(_ outer: any Disposable) -> any Disposable {
    inputs.sources.insert(outer)
    return inputs.sink
  }

  func switchTo(_ stream: Observable<Element>) {
    // Release: a thread that reads the new number sees what was done before the switch. Only the outer stream
    // adds, so there is nothing to acquire.
    let mine = number.current.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue
    let subscription = SingleAssignmentDisposable()
    inner.disposable = subscription
    subscription.hold(
      stream.run(
        AnyObserver { [inputs] event in
          inputs.submit(.inner(mine, event))
          // Releases what has ended now, and not at the next switch.
          if event.isStopEvent { subscription.dispose() }
        }))
  }

  func fail(_ error: any Error) { inputs.submit(.failed(error)) }

  func completeOuter() { inputs.submit(.outerCompleted) }
}
