/// One subscription of a source for many observers.
extension ObservableType {
  /// Shares one subscription of this stream: it begins with the first observer and ends with the last.
  ///
  /// - Parameters:
  ///   - replay: How many of the last elements each further observer is told first.
  ///   - scope: Whether what is kept outlives the shared subscription.
  /// - Precondition: `replay` is not negative.
  public func share(
    replay: Int = 0, scope: SubjectLifetimeScope = .whileConnected
  ) -> Observable<Element> {
    switch scope {
    case .whileConnected: self.replay(replay).refCount()
    case .forever: ConnectableObservable(Multicast(self, keeping: replay, forever: true)).refCount()
    }
  }

  /// A stream that tells all its observers what one subscription of this brings, from
  /// ``ConnectableObservable/connect()`` on.
  public func publish() -> ConnectableObservable<Element> { replay(0) }

  /// As ``publish()``; and further observers are first told the last `bufferSize` elements.
  ///
  /// - Precondition: `bufferSize` is not negative.
  public func replay(_ bufferSize: Int) -> ConnectableObservable<Element> {
    ConnectableObservable(Multicast(self, keeping: bufferSize, forever: false))
  }
}

/// How long ``ObservableType/share(replay:scope:)`` keeps what it replays.
public enum SubjectLifetimeScope: Sendable {
  /// Until the shared subscription ends. The next observer begins a new one, and sees nothing of the old.
  case whileConnected
  /// As long as the stream. Once the source has ended, every observer is told its last elements and its end.
  case forever
}

/// A stream that subscribes to its source when it is told to, once for all its observers.
public struct ConnectableObservable<Element: Sendable>: ObservableType {
  private let multicast: Multicast<Element>

  init(_ multicast: Multicast<Element>) { self.multicast = multicast }

  /// Begins the shared subscription, unless there is one. Any thread.
  ///
  /// - Returns: What ends it. Its observers are told nothing more; later ones wait for the next.
  @discardableResult
  public func connect() -> any Disposable { multicast.connect() }

  /// A stream that connects with its first observer, and disconnects with its last.
  public func refCount() -> Observable<Element> {
    let multicast = multicast
    return Observable { multicast.subscribeCounted($0) }
  }

  public func asObservable() -> Observable<Element> {
    let multicast = multicast
    return Observable { multicast.subscribe($0) }
  }
}
