import Synchronization

/// The newest of several streams.
extension ObservableType {
  /// Passes on the stream that `selector` has returned for the last element, and disposes of the one before.
  /// Once the switch is made, nothing of an older stream is passed on, but for an event that another thread is just delivering: no
  /// lock is held meanwhile, so it may arrive right after the switch. It never arrives after an event of the newer stream.
  ///
  /// Completes when this stream and the last inner stream have completed. Fails as soon as one fails or
  /// `selector` throws.
  @inlinable
  public func flatMapLatest<Inner: ObservableConvertibleType>(
    _ selector: @escaping @Sendable (Element) throws -> Inner
  ) -> Observable<Inner.Element> {
    let source = asObservable()
    return Observable<Inner.Element> { observer in
      let switcher = Switcher(observer)
      let outer = source.run(
        AnyObserver { event in
          switch event {
          case .next(let element):
            if !switcher.takesMore { return }
            do { switcher.switchTo(try selector(element).asObservable()) } catch { switcher.fail(error) }
          case .error(let error): switcher.fail(error)
          case .completed: switcher.completeOuter()
          }
        })
      return switcher.hold(outer)
    }
  }

  /// Passes on the last stream that this stream has sent; see ``flatMapLatest(_:)``.
  @inlinable
  public func switchLatest() -> Observable<Element.Element> where Element: ObservableConvertibleType {
    flatMapLatest { $0 }
  }
}

/// One subscription of `flatMapLatest`. The outer stream switches one stream at a time.
@usableFromInline
final class Switcher<Element: Sendable>: Sendable {
  @usableFromInline
  enum Input: Sendable {
    /// An event of the inner stream of that number.
    case inner(UInt64, Event<Element>)
    case outerCompleted
    case failed(any Error)
  }

  @usableFromInline
  struct Progress: Sendable {
    @usableFromInline var outerHasCompleted = false
    /// The number of the last inner stream that has completed.
    @usableFromInline var completed: UInt64 = 0

    @inlinable
    init() {}
  }

  /// The numbers of inner streams, from 1 on.
  @usableFromInline
  final class Numbers: Sendable {
    /// The inner stream that may send.
    @usableFromInline let current = Atomic<UInt64>(0)
    /// The newest inner stream that has failed, or the largest number if the outer stream or `selector` has. The error may still be
    /// queued, so that the result is not over.
    // Relaxed: the error itself passes through the queue.
    @usableFromInline let failed = Atomic<UInt64>(0)

    @inlinable
    init() {}

    /// Whether the result is about to fail. The failure of an inner stream has no effect after a switch.
    // Relaxed: only the outer stream, which calls this, changes `current`.
    @inlinable
    var isFailing: Bool {
      let failed = failed.load(ordering: .relaxed)
      return failed > 0 && failed >= current.load(ordering: .relaxed)
    }
  }

  @usableFromInline let inner = SerialDisposable()
  @usableFromInline let numbers: Numbers
  @usableFromInline let inputs: MultiSourceSink<Progress, Input, Element>

  @inlinable
  init(_ observer: AnyObserver<Element>) {
    let numbers = Numbers()
    self.numbers = numbers
    inputs = MultiSourceSink(observer, Progress()) { sink, progress, input in
      // Read here and not when the event was sent: the event may have been queued during the switch. Acquire:
      // see `switchTo`. A switch may follow before the event is passed on. Only a lock, which the switch would wait for, could prevent
      // that, and an observer that waits for the switching thread would then wait for ever. Those of the newer stream are queued.
      let current = numbers.current.load(ordering: .acquiring)
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

  /// Whether the outer stream may switch to another stream.
  @inlinable
  var takesMore: Bool { !inputs.sink.isOver && !numbers.isFailing }

  @inlinable
  func hold(_ outer: any Disposable) -> any Disposable {
    inputs.sources.insert(outer)
    return inputs.sink
  }

  @inlinable
  func switchTo(_ stream: Observable<Element>) {
    // Once more: the selector may have made a stream fail, or has taken long.
    if !takesMore { return }
    // Release: a thread that reads the new number sees what was done before the switch. Only the outer stream
    // adds, so there is nothing to acquire.
    let mine = numbers.current.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue
    let subscription = SingleAssignmentDisposable()
    inner.disposable = subscription
    stream.run(
      AnyObserver { [inputs, numbers] event in
        // Before the event is passed on, as in RxSwift: a stream that begins because of it can tell, if it shares a source with
        // this one.
        if event.isStopEvent { subscription.dispose() }
        if case .error = event { numbers.failed.max(mine, ordering: .relaxed) }
        inputs.submit(.inner(mine, event))
      }, heldBy: subscription)
  }

  @inlinable
  func fail(_ error: any Error) {
    numbers.failed.store(.max, ordering: .relaxed)
    inputs.submit(.failed(error))
  }

  @inlinable
  func completeOuter() { inputs.submit(.outerCompleted) }
}
