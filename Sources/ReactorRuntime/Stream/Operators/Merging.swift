import ReactorCore
import Synchronization

/// Several streams at the same time, their elements in the order of arrival.
extension ObservableType {
  /// Merges the streams that `selector` returns for the elements. Each is subscribed to at once.
  ///
  /// Elements that come on several threads are passed on one at a time; a thread that brings too many blocks
  /// as ``Observable/create(_:)`` describes. Completes when this stream and all of the others have
  /// completed. Fails as soon as one fails or `selector` throws.
  @inlinable
  public func flatMap<Inner: ObservableConvertibleType>(
    _ selector: @escaping @Sendable (Element) throws -> Inner
  ) -> Observable<Inner.Element> {
    merged(isExclusive: false, selector)
  }

  /// As ``flatMap(_:)``, but ignores elements that come while a stream of `selector` is running, without a
  /// call of `selector`.
  @inlinable
  public func flatMapFirst<Inner: ObservableConvertibleType>(
    _ selector: @escaping @Sendable (Element) throws -> Inner
  ) -> Observable<Inner.Element> {
    merged(isExclusive: true, selector)
  }

  /// Merges all streams that this stream sends; see ``flatMap(_:)``.
  @inlinable
  public func merge() -> Observable<Element.Element> where Element: ObservableConvertibleType {
    flatMap { $0 }
  }

  @inlinable
  func merged<Inner: ObservableConvertibleType>(
    isExclusive: Bool, _ selector: @escaping @Sendable (Element) throws -> Inner
  ) -> Observable<Inner.Element> {
    let source = asObservable()
    return Observable<Inner.Element> { observer in
      let merger = Merger(SerializedSink(observer), isExclusive: isExclusive)
      let outer = source.run(
        AnyObserver { event in
          switch event {
          case .next(let element):
            if !merger.takesMore { return }
            do { merger.add(try selector(element).asObservable()) } catch { merger.fail(error) }
          case .error(let error): merger.fail(error)
          case .completed: merger.completeOne()
          }
        })
      return merger.hold(outer)
    }
  }
}

extension Observable {
  /// Merges the streams. Completes when all have completed. Fails as soon as one fails.
  @inlinable
  public static func merge(_ sources: Observable<Element>...) -> Observable<Element> {
    Observable.merge(sources)
  }

  /// Merges the streams. Completes when all have completed. Fails as soon as one fails.
  @inlinable
  public static func merge(_ sources: some Collection<Observable<Element>>) -> Observable<Element> {
    if sources.count == 1, let only = sources.first { return only }
    let sources = Array(sources)
    return Observable { observer in
      let merger = Merger(SerializedSink(observer), isExclusive: false)
      for source in sources where merger.takesMore { merger.add(source) }
      merger.completeOne()
      return merger.serialized.sink
    }
  }
}

extension Observable {
  /// As the function that takes an array of observables, with streams of several types, such as ``MainObservable`` and
  /// ``Single``.
  @_disfavoredOverload
  public static func merge(_ sources: [any ObservableConvertibleType<Element>]) -> Observable<Element> {
    Observable.merge(sources.map { $0.asObservable() })
  }

  /// As the function that takes observables, with streams of several types, such as ``MainObservable`` and ``Single``.
  @_disfavoredOverload
  public static func merge(_ sources: any ObservableConvertibleType<Element>...) -> Observable<Element> {
    Observable.merge(sources.map { $0.asObservable() })
  }
}

/// One subscription of `merge` or `flatMap`. The outer stream, or the subscriber, adds streams one at a time. These may send
/// on any thread.
@usableFromInline
final class Merger<Element: Sendable>: Sendable {
  @usableFromInline let serialized: SerializedSink<Element>
  /// How many streams have not completed: those that were added, and the outer one or the subscriber.
  @usableFromInline let running = Atomic(1)
  @usableFromInline let isExclusive: Bool
  /// Whether an error has come. It may still be queued, so that the result is not over; but no stream is added any more.
  // Relaxed: the error itself passes through the queue.
  @usableFromInline let isFailing = Atomic(false)

  @inlinable
  init(_ serialized: SerializedSink<Element>, isExclusive: Bool) {
    self.serialized = serialized
    self.isExclusive = isExclusive
  }

  @inlinable
  func hold(_ outer: any Disposable) -> any Disposable {
    serialized.sources.insert(outer)
    return serialized.sink
  }

  /// Whether the outer stream may add another stream.
  // Acquire: what a completed stream has sent comes before what the next one sends.
  @inlinable
  var takesMore: Bool {
    !serialized.sink.isOver && !isFailing.load(ordering: .relaxed)
      && !(isExclusive && running.load(ordering: .acquiring) > 1)
  }

  @inlinable
  func add(_ stream: Observable<Element>) {
    // Once more: the selector may have made a stream fail, or has taken long.
    if isFailing.load(ordering: .relaxed) { return }
    if stream.isKnown {
      if stream.isImmediate { return stream.deliverJoiningQueue { serialized.on(.next($0)) } }
      if !EmissionQueue.isOpen {
        return EmissionQueue.open { stream.deliverInTurns { serialized.on(.next($0)) } }
      }
    }
    let subscription = SingleAssignmentDisposable()
    guard let key = serialized.sources.insert(subscription) else { return }
    // Relaxed: `running` is above 0 as long as streams are added, so nobody waits for this count.
    running.wrappingAdd(1, ordering: .relaxed)
    stream.run(
      AnyObserver { [self] event in
        switch event {
        case .next: serialized.on(event)
        case .error(let error): fail(error)
        case .completed:
          serialized.sources.remove(for: key)
          completeOne()
        }
      }, heldBy: subscription)
  }

  @inlinable
  func fail(_ error: any Error) {
    isFailing.store(true, ordering: .relaxed)
    serialized.on(.error(error))
  }

  /// Notes that one stream has completed. The last one completes the result.
  // Acquire and release: the last one comes after all that the others have sent.
  @inlinable
  func completeOne() {
    if running.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
      serialized.on(.completed)
    }
  }
}
