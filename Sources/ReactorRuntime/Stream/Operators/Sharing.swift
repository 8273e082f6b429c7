import ReactorCore

/// One subscription of a source for many observers.
extension ObservableType {
  /// Shares one subscription of this stream among all observers. It begins with the first observer and ends
  /// with the last. With `replay` of 2 or more, or the scope `forever`, the next one waits while one is being disposed of; it then begins
  /// on the thread that has done that, after the stop event, if there was one, was delivered. Two may overlap if the source ends inside
  /// of its own subscription: it can be disposed of only when that has returned.
  ///
  /// - Parameters:
  ///   - replay: How many of the last elements each further observer receives first.
  ///   - scope: Whether what is kept outlives the shared subscription.
  /// - Precondition: `replay` is not negative.
  @inlinable
  public func share(
    replay: Int = 0, scope: SubjectLifetimeScope = .whileConnected
  ) -> Observable<Element> {
    let multicast = Multicast(
      self, keeping: replay, forever: scope == .forever,
      // As in RxSwift, whose usual two forms of `share` are not those of `replay(_:).refCount()`.
      endsFirst: scope == .forever || replay > 1)
    return ConnectableObservable(multicast).refCount()
  }

  /// Returns a stream that delivers one subscription of this stream to all its observers. The subscription
  /// begins with ``ConnectableObservable/connect()``.
  @inlinable
  public func publish() -> ConnectableObservable<Element> { replay(0) }

  /// As ``publish()``, but further observers first receive the last `bufferSize` elements.
  ///
  /// - Precondition: `bufferSize` is not negative.
  @inlinable
  public func replay(_ bufferSize: Int) -> ConnectableObservable<Element> {
    ConnectableObservable(Multicast(self, keeping: bufferSize, forever: false, endsFirst: true))
  }
}

/// How long ``ObservableType/share(replay:scope:)`` keeps what it replays.
public enum SubjectLifetimeScope: Sendable {
  /// Until the shared subscription ends. The next observer begins a new one, and receives nothing of the old
  /// one.
  case whileConnected
  /// As long as the stream exists. Once the source has ended, every observer receives its last elements and
  /// its stop event.
  case forever
}

/// A stream that subscribes to its source when ``connect()`` is called, once for all its observers.
public struct ConnectableObservable<Element: Sendable>: ObservableType {
  @usableFromInline let multicast: Multicast<Element>

  @inlinable
  init(_ multicast: Multicast<Element>) { self.multicast = multicast }

  /// Begins the shared subscription, unless there is one. Any thread.
  ///
  /// - Returns: A disposable that ends the shared subscription. Its observers receive nothing more; later
  ///   observers wait for the next connection.
  @discardableResult
  @inlinable
  public func connect() -> any Disposable { multicast.connect() }

  /// Returns a stream that connects with its first observer, and disconnects with its last. The next connection waits until the one
  /// before is disposed of, unless the source has ended inside of its own subscription.
  @inlinable
  public func refCount() -> Observable<Element> {
    let multicast = multicast
    return Observable { multicast.subscribeCounted($0) }
  }

  @inlinable
  public func asObservable() -> Observable<Element> {
    let multicast = multicast
    return Observable { multicast.subscribe($0) }
  }
}

/// Delivers one subscription of a source to any number of observers.
///
/// Each *connection* has one subject, and at most one subscription of the source. It is over when that
/// subscription ends. The next observer opens the next connection.
@usableFromInline
final class Multicast<Element: Sendable>: Sendable {
  /// Its identity tells connections apart.
  @usableFromInline
  final class Connection: Sendable {
    @usableFromInline let subject: SubjectCore<Element>
    @usableFromInline let subscription = SingleAssignmentDisposable()

    @inlinable
    init(_ subject: SubjectCore<Element>) { self.subject = subject }
  }

  @usableFromInline
  struct State: Sendable {
    @usableFromInline var connection: Connection?
    /// Whether the source of that connection is or was subscribed to.
    @usableFromInline var isConnected = false
    /// How many observers that connection has that count.
    @usableFromInline var counted = 0
    /// How many earlier connections are being disposed of.
    @usableFromInline var endings = 0
    /// Whether that connection begins when these have ended.
    @usableFromInline var beginsLater = false

    /// Forgets the connection.
    @inlinable
    mutating func reset() {
      (connection, isConnected, counted, beginsLater) = (nil, false, 0, false)
    }
  }

  @usableFromInline let source: Observable<Element>
  @usableFromInline let bufferSize: Int
  /// Whether the subscription to the source is disposed of before its stop event is delivered, or right afterwards. An observer
  /// that subscribes to the source because of that event can tell.
  @usableFromInline let endsFirst: Bool
  /// The subject of all connections, if they share one.
  @usableFromInline let sharedSubject: SubjectCore<Element>?
  @usableFromInline let state = SystemMutex(State())

  @inlinable
  init(
    _ source: some ObservableType<Element>, keeping bufferSize: Int, forever: Bool, endsFirst: Bool
  ) {
    guard bufferSize >= 0 else { fatalError("no negative number of elements can be replayed") }
    self.source = source.asObservable()
    self.bufferSize = bufferSize
    self.endsFirst = endsFirst
    sharedSubject = forever ? Self.makeSubject(bufferSize) : nil
  }

  @inlinable
  static func makeSubject(_ bufferSize: Int) -> SubjectCore<Element> {
    SubjectCore(RecentElements(limit: bufferSize), replaysAfterEnd: true)
  }

  @inlinable
  func subscribe(_ observer: AnyObserver<Element>) -> any Disposable {
    join(counted: false).connection.subject.subscribe(observer)
  }

  /// Subscribes an observer that counts: the first one connects, and the last one to leave disconnects.
  @inlinable
  func subscribeCounted(_ observer: AnyObserver<Element>) -> any Disposable {
    let (connection, isFirst) = join(counted: true)
    let subscription = connection.subject.subscribe(observer)
    if isFirst, connection.subject.stopEvent == nil { connect(connection) }
    return Disposables.create { [self] in
      subscription.dispose()
      if leave(connection) { finish(connection) }
    }
  }

  @inlinable
  func connect() -> any Disposable {
    let connection = join(counted: false).connection
    connect(connection)
    return Disposables.create { [self] in end(connection) }
  }

  @inlinable
  func join(counted: Bool) -> (connection: Connection, isFirst: Bool) {
    state.withLock { state in
      let connection = state.connection ?? Connection(sharedSubject ?? Self.makeSubject(bufferSize))
      state.connection = connection
      if counted { state.counted += 1 }
      return (connection, counted && state.counted == 1)
    }
  }

  /// Counts an observer out. In one step, so that no observer can join in between.
  ///
  /// - Returns: Whether the connection is over, because that was the last one that counted.
  @inlinable
  func leave(_ connection: Connection) -> Bool {
    state.withLock { state in
      guard state.connection === connection else { return false }
      state.counted -= 1
      if state.counted > 0 { return false }
      state.reset()
      state.endings += 1
      return true
    }
  }

  /// Begins a connection, unless it has begun; after those that are being disposed of, so that the source has one subscription
  /// at a time; but one that has ended inside of its own subscription is disposed of only when that returns.
  @inlinable
  func connect(_ connection: Connection) {
    let isMine = state.withLock { state in
      guard state.connection === connection, !state.isConnected else { return false }
      state.beginsLater = state.endings > 0
      state.isConnected = !state.beginsLater
      return state.isConnected
    }
    if isMine { begin(connection) }
  }

  @inlinable
  func begin(_ connection: Connection) {
    source.run(
      AnyObserver { [self] event in
        if connection.subscription.isDisposed { return }
        guard event.isStopEvent else { return connection.subject.on(event) }
        if endsFirst, sharedSubject == nil { return stop(connection, event) }
        // First, so that an observer that subscribes again because of the stop event opens a new connection. Last if all
        // connections share the subject: until that has ended, an observer must find this connection, and not begin another one.
        if sharedSubject == nil { close(connection) }
        if endsFirst { connection.subscription.dispose() }
        connection.subject.on(event)
        if sharedSubject != nil { close(connection) }
        connection.subscription.dispose()
      }, heldBy: connection.subscription)
  }

  /// Ends a connection because its source has ended: disposes of it, delivers the stop event, and then starts the connection that has
  /// waited for this end, if there is one. Not before the stop event, since the source of that connection may keep this thread. An
  /// observer that subscribes because of the stop event joins the waiting connection; without one, it opens one that begins at once.
  @inlinable
  func stop(_ connection: Connection, _ event: Event<Element>) {
    let isMine = close(connection, countsEnding: true)
    connection.subscription.dispose()
    let next = isMine ? startNextOrCountOut() : nil
    connection.subject.on(event)
    if let next { begin(withThoseBehind: next) }
  }

  @inlinable
  func end(_ connection: Connection) {
    state.withLock { state in
      if state.connection === connection { state.reset() }
      state.endings += 1
    }
    finish(connection)
  }

  /// Disposes of the ending connection, then starts the connection that waited for its end. The ending counts until that has
  /// subscribed to the source: if its only observer has left by then, the next one must wait.
  @inlinable
  func finish(_ connection: Connection) {
    connection.subscription.dispose()
    if let next = startNextOrCountOut() { begin(withThoseBehind: next) }
  }

  /// Begins a connection that has waited, and then those that have begun to wait meanwhile.
  @inlinable
  func begin(withThoseBehind connection: Connection) {
    var next = Optional(connection)
    while let connection = next {
      // Its observers may have left.
      if !connection.subscription.isDisposed { begin(connection) }
      next = startNextOrCountOut()
    }
  }

  @inlinable
  func startNextOrCountOut() -> Connection? {
    state.withLock { state in
      if state.endings == 1, state.beginsLater {
        (state.isConnected, state.beginsLater) = (true, false)
        return state.connection
      }
      state.endings -= 1
      return nil
    }
  }

  /// Forgets a connection.
  ///
  /// - Returns: Whether that had not happened yet. If so, and if `countsEnding`, its end counts as one that the next connection waits for.
  @discardableResult
  @inlinable
  func close(_ connection: Connection, countsEnding: Bool = false) -> Bool {
    state.withLock { state in
      // The caller retains the connection, so no object of a user is destroyed under the lock.
      guard state.connection === connection else { return false }
      state.reset()
      if countsEnding { state.endings += 1 }
      return true
    }
  }
}
