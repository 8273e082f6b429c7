import ReactorCore

/// Brings what one subscription of a source says to any number of observers.
///
/// Time is divided into rounds: a round has one subject, and at most one subscription of the source. It is
/// over when that subscription ends; who comes afterwards opens the next.
final class Multicast<Element: Sendable>: Sendable {
  /// Its identity tells rounds apart.
  private final class Round: Sendable {
    let subject: SubjectCore<Element>
    let connection = SingleAssignmentDisposable()

    init(_ subject: SubjectCore<Element>) { self.subject = subject }
  }

  private struct State: Sendable {
    var round: Round?
    /// What belongs to that round.
    var isConnected = false
    var counted = 0
  }

  private let source: Observable<Element>
  private let bufferSize: Int
  /// The subject of all rounds, if they share one.
  private let lasting: SubjectCore<Element>?
  private let state = SystemMutex(State())

  init(_ source: some ObservableType<Element>, keeping bufferSize: Int, forever: Bool) {
    precondition(bufferSize >= 0, "no negative number of elements can be replayed")
    self.source = source.asObservable()
    self.bufferSize = bufferSize
    lasting = forever ? Self.makeSubject(bufferSize) : nil
  }

  private static func makeSubject(_ bufferSize: Int) -> SubjectCore<Element> {
    SubjectCore(RecentElements(limit: bufferSize), replaysAfterEnd: true)
  }

  func subscribe(_ observer: AnyObserver<Element>) -> any Disposable {
    join(counted: false).round.subject.subscribe(observer)
  }

  /// Connects if there was no such observer; disconnects when there is none left.
  func subscribeCounted(_ observer: AnyObserver<Element>) -> any Disposable {
    let (round, isFirst) = join(counted: true)
    let subscription = round.subject.subscribe(observer)
    if isFirst, round.subject.stopEvent == nil { connect(round) }
    return Disposables.create { [self] in
      subscription.dispose()
      if leave(round) { round.connection.dispose() }
    }
  }

  func connect() -> any Disposable {
    let round = join(counted: false).round
    connect(round)
    return Disposables.create { [self] in end(round) }
  }

  private func join(counted: Bool) -> (round: Round, isFirst: Bool) {
    state.withLock { state in
      let round = state.round ?? Round(lasting ?? Self.makeSubject(bufferSize))
      state.round = round
      if counted { state.counted += 1 }
      return (round, counted && state.counted == 1)
    }
  }

  /// Whether the round is over because its last counted observer has left it. In one step, so that nobody can
  /// join in between.
  private func leave(_ round: Round) -> Bool {
    state.withLock { state in
      guard state.round === round else { return false }
      state.counted -= 1
      if state.counted > 0 { return false }
      state = State()
      return true
    }
  }

  private func connect(_ round: Round) {
    let isMine = state.withLock { state in
      guard state.round === round, !state.isConnected else { return false }
      state.isConnected = true
      return true
    }
    guard isMine else { return }
    let subscription = source.run(
      AnyObserver { [self] event in
        if round.connection.isDisposed { return }
        // First, so that an observer that subscribes again because of the end begins a new round.
        if event.isStopEvent { close(round) }
        round.subject.on(event)
        if event.isStopEvent { round.connection.dispose() }
      })
    round.connection.hold(subscription)
  }

  private func end(_ round: Round) {
    close(round)
    round.connection.dispose()
  }

  private func close(_ round: Round) {
    state.withLock { state in
      // The caller holds the round, so nothing of a user's is destroyed under the lock.
      if state.round === round { state = State() }
    }
  }
}
