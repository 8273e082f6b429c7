import Synchronization

/// Several streams at once, their elements in the order in which they come.
extension ObservableType {
  /// The elements of the streams that `selector` makes of the elements. Each is subscribed to at once. Ends
  /// well when this stream and all of those have; fails as soon as one fails or `selector` throws.
  public func flatMap<Inner: ObservableType>(
    _ selector: @escaping @Sendable (Element) throws -> Inner
  ) -> Observable<Inner.Element> {
    merged(isExclusive: false, selector)
  }

  /// As ``flatMap(_:)``, but elements that come while such a stream is running are ignored, without a call of
  /// `selector`.
  public func flatMapFirst<Inner: ObservableType>(
    _ selector: @escaping @Sendable (Element) throws -> Inner
  ) -> Observable<Inner.Element> {
    merged(isExclusive: true, selector)
  }

  /// The elements of all streams that this stream sends; see ``flatMap(_:)``.
  public func merge() -> Observable<Element.Element> where Element: ObservableType { flatMap { $0 } }

  private func merged<Inner: ObservableType>(
    isExclusive: Bool, _ selector: @escaping @Sendable (Element) throws -> Inner
  ) -> Observable<Inner.Element> {
    let source = asObservable()
    return Observable<Inner.Element> { observer in
      let merger = Merger(Funnel(observer), isExclusive: isExclusive)
      let outer = source.run(
        AnyObserver { event in
          switch event {
          case .next(let element):
            if !merger.takesMore { return }
            do { merger.add(try selector(element).asObservable()) } catch { merger.fail(error) }
          case .error(let error): merger.fail(error)
          case .completed: merger.oneEnded()
          }
        })
      return merger.hold(outer)
    }
  }
}

extension Observable {
  /// The elements of all the streams. Ends well when all have; fails as soon as one fails.
  public static func merge(_ sources: Observable<Element>...) -> Observable<Element> {
    Observable.merge(sources)
  }

  /// The elements of all the streams. Ends well when all have; fails as soon as one fails.
  public static func merge(_ sources: some Collection<Observable<Element>>) -> Observable<Element> {
    if sources.count == 1, let only = sources.first { return only }
    return Observable<Observable<Element>>.from(Array(sources)).merge()
  }
}

/// One subscription of `merge` or `flatMap`. What adds streams does so one at a time; they may send from any
/// thread.
private final class Merger<Element: Sendable>: Sendable {
  private let funnel: Funnel<Element>
  /// The streams that have not ended well, and one for that which adds them.
  private let running = Atomic(1)
  private let isExclusive: Bool

  init(_ funnel: Funnel<Element>, isExclusive: Bool) {
    self.funnel = funnel
    self.isExclusive = isExclusive
  }

  func hold(_ outer: any Disposable) -> any Disposable {
    funnel.sources.insert(outer)
    return funnel.sink
  }

  /// Acquire: what an ended stream has sent comes before what the next one sends.
  var takesMore: Bool {
    !funnel.sink.isOver && !(isExclusive && running.load(ordering: .acquiring) > 1)
  }

  func add(_ stream: Observable<Element>) {
    if stream.isKnown { return stream.deliver { funnel.on(.next($0)) } }
    let subscription = SingleAssignmentDisposable()
    guard let key = funnel.sources.insert(subscription) else { return }
    // Relaxed: `running` is above 0 as long as streams are added.
    running.wrappingAdd(1, ordering: .relaxed)
    subscription.hold(
      stream.run(
        AnyObserver { [self] event in
          guard event.isCompleted else { return funnel.on(event) }
          funnel.sources.remove(for: key)
          oneEnded()
        }))
  }

  func fail(_ error: any Error) { funnel.on(.error(error)) }

  /// Acquire and release: the last to end comes after all that the others have sent.
  func oneEnded() {
    if running.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { funnel.on(.completed) }
  }
}
