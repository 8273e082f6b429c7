/// One stream after the other.
extension ObservableType {
  /// The given elements, then this stream.
  @inlinable
  public func startWith(_ elements: Element...) -> Observable<Element> {
    let source = asObservable()
    let first = Observable.from(elements)
    if let joined = Observable.joined([first, source]) { return joined }
    return Observable { observer in
      first.deliver { observer.on(.next($0)) }
      return source.run(observer)
    }
  }

  /// This stream, then `second` when this has ended well, and its subscription with it.
  @inlinable
  public func concat(_ second: some ObservableType<Element>) -> Observable<Element> {
    Observable.concat([asObservable(), second.asObservable()])
  }
}

extension Observable {
  /// The streams one after the other; each is subscribed to when the one before has ended well, and all that
  /// it said was delivered. Fails as soon as one fails.
  @inlinable
  public static func concat(_ sources: Observable<Element>...) -> Observable<Element> {
    Observable.concat(sources)
  }

  /// The streams one after the other; each is subscribed to when the one before has ended well, and all that
  /// it said was delivered. Fails as soon as one fails.
  @inlinable
  public static func concat(_ sources: some Sequence<Observable<Element>>) -> Observable<Element> {
    let streams = Array(sources)
    if let joined = Observable.joined(streams) { return joined }
    if streams.count == 1 { return streams[0] }
    return Succession.stream(streams[0], from: 1) { index, event in
      guard event.isCompleted, index < streams.count else { return nil }
      defer { index += 1 }
      return streams[index]
    }
  }

  /// The streams one after the other as a value, if they are known and have four elements at most.
  @inlinable
  static func joined(_ streams: [Observable]) -> Observable? {
    var count = 0
    for stream in streams {
      guard let more = stream.knownCount else { return nil }
      count += more
    }
    if count > 4 { return nil }
    var (first, second, third, fourth): (Element?, Element?, Element?, Element?)
    for stream in streams {
      stream.deliver { element in
        if first == nil {
          first = element
        } else if second == nil {
          second = element
        } else if third == nil {
          third = element
        } else {
          fourth = element
        }
      }
    }
    guard let first else { return .empty() }
    guard let second else { return .just(first) }
    guard let third else { return .of(first, second) }
    guard let fourth else { return .of(first, second, third) }
    return .of(first, second, third, fourth)
  }
}
