import ReactorRuntime
import TestSupport
import Testing

/// No stream keeps anything alive after its end.
@Suite struct StreamLifetimeTests {
  /// Ways in which a subscription ends.
  enum End: CaseIterable, Sendable {
    case disposed, completed, failed

    func bring(about subscription: any Disposable, _ feeds: [Feed<LifetimeTracked>]) {
      switch self {
      case .disposed: subscription.dispose()
      // Three times: some streams subscribe again.
      case .completed: for feed in feeds + feeds + feeds { feed.complete() }
      case .failed: for feed in feeds + feeds + feeds { feed.fail() }
      }
    }
  }

  @Test(arguments: StreamCase.all, End.allCases)
  func `a subscription that is over retains nothing`(row: StreamCase, end: End) {
    let lifetimes = Lifetimes()
    var (feeds, subscription) = subscribe(to: row, lifetimes)
    for number in 0..<12 { feeds[number % 3].next(lifetimes.track(number)) }
    end.bring(about: subscription, feeds)
    // Streams that never end or that retry for ever must be disposed of.
    if row.name == "never" || row.name == "retry" { subscription.dispose() }
    #expect(feeds.map(\.subscriptions) == [0, 0, 0])
    // Both the subscription and the sources still exist.
    #expect(lifetimes.alive == 0)
    withExtendedLifetime((feeds, subscription)) {}
    feeds = []
    subscription = Disposables.create()
  }

  @Test(arguments: StreamCase.all)
  func `nothing is delivered after a disposal inside of a delivery`(row: StreamCase) {
    let lifetimes = Lifetimes()
    do {
      let sources = StreamCase.Sources(lifetimes)
      let subscription = SerialDisposable()
      let delivered = Record<String>()
      subscription.disposable = row.make(sources).subscribe {
        delivered.append("\($0)")
        subscription.dispose()
      }
      let atOnce = delivered.elements.count
      for number in 1..<24 { sources.feeds[number % 3].next(lifetimes.track(number)) }
      subscription.dispose()
      // Events that come before `subscribe` has returned cannot be prevented by what it returns.
      #expect(delivered.elements.count <= max(1, atOnce))
      #expect(sources.feeds.map(\.subscriptions) == [0, 0, 0])
    }
    #expect(lifetimes.alive == 0)
  }

  /// A separate function, so that no variable retains what only the stream may retain.
  private func subscribe(
    to row: StreamCase, _ lifetimes: Lifetimes
  ) -> (feeds: [Feed<LifetimeTracked>], subscription: any Disposable) {
    let sources = StreamCase.Sources(lifetimes)
    let observed = lifetimes.track()
    let subscription = row.make(sources).subscribe { _ in withExtendedLifetime(observed) {} }
    return (sources.feeds, subscription)
  }

  @Test func `a bag disposes of all its members`() {
    let disposed = Record<Int>()
    func part(_ number: Int) -> any Disposable { Disposables.create { disposed.append(number) } }
    do {
      let bag = DisposeBag()
      bag.insert(part(1))
      bag.insert(part(2), part(3))
      bag.insert([part(4), part(5)])
      part(6).disposed(by: bag)
      #expect(disposed.elements == [])
    }
    #expect(disposed.elements.sorted() == [1, 2, 3, 4, 5, 6])
  }
}
