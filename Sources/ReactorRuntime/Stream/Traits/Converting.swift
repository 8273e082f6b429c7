/// Streams of any length as streams of at most one element.
extension ObservableType {
  /// The only element of this stream, when it has completed. Fails with ``RxError/noElements`` if there is none, and
  /// with ``RxError/moreThanOneElement`` at the second one.
  public func asSingle() -> Single<Element> {
    Single(
      trusted: lift(Element?.none, noteOnly) { sink in
        guard let only = sink.state else { throw RxError.noElements }
        sink.next(only)
      })
  }

  /// The only element of this stream, if it has one, when it has completed. Fails with
  /// ``RxError/moreThanOneElement`` at the second one.
  public func asMaybe() -> Maybe<Element> {
    Maybe(trusted: lift(Element?.none, noteOnly) { sink in if let only = sink.state { sink.next(only) } })
  }

  /// The first element of this stream, as soon as it comes; nil if this completes without one. Then disposes of the
  /// subscription.
  public func first() -> Single<Element?> {
    Single(
      trusted: lift(
        (),
        { sink, element in
          sink.next(.some(element))
          sink.complete()
        }, atEnd: { sink in sink.next(nil) }))
  }

  /// All elements of this stream in an array, when it has completed. They are held in memory until then.
  public func toArray() -> Single<[Element]> {
    Single(trusted: lift([], { sink, element in sink.state.append(element) }, atEnd: { $0.next($0.state) }))
  }
}

extension ObservableType where Element == Never {
  /// This stream, which has no elements, as a completable.
  public func asCompletable() -> Completable { Completable(trusted: asObservable()) }
}

@Sendable private func noteOnly<Element>(
  _ sink: StatefulSink<Element, Element?>, _ element: Element
) throws {
  if sink.state != nil { throw RxError.moreThanOneElement }
  sink.state = element
}
