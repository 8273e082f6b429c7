/// The newest element of another stream, whenever one comes here.
extension ObservableType {
  /// What `resultSelector` makes of each element and the newest one of `second`. Elements that come before
  /// `second` has sent one are left out.
  ///
  /// `second` is subscribed to first; its good end changes nothing. Ends with this stream; fails as soon as
  /// either fails or `resultSelector` throws.
  public func withLatestFrom<Second: ObservableType, Result>(
    _ second: Second, resultSelector: @escaping @Sendable (Element, Second.Element) throws -> Result
  ) -> Observable<Result> {
    let source = asObservable()
    let other = second.asObservable()
    return Observable { observer in
      let junction = Junction<Second.Element?, Pair<Element, Second.Element>, Result>(observer, nil) {
        sink, latest, input in
        switch input {
        case .second(.next(let element)): latest = .some(element)
        case .first(.next(let element)):
          guard let latest else { return }
          do { sink.next(try resultSelector(element, latest)) } catch { sink.fail(error) }
        case .first(.error(let error)), .second(.error(let error)): sink.fail(error)
        case .first(.completed): sink.complete()
        case .second(.completed): break
        }
      }
      junction.add(other) { .second($0) }
      junction.add(source) { .first($0) }
      return junction.sink
    }
  }

  /// The newest element of `second` whenever one comes here; see ``withLatestFrom(_:resultSelector:)``.
  public func withLatestFrom<Second: ObservableType>(_ second: Second) -> Observable<Second.Element> {
    withLatestFrom(second, resultSelector: { $1 })
  }
}

/// What one of the two streams says.
private enum Pair<First: Sendable, Second: Sendable>: Sendable {
  case first(Event<First>)
  case second(Event<Second>)
}
