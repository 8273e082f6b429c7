import ReactorRuntime
import TestSupport
import Testing

/// What any stream keeps alive: nothing once it is over.
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
  func nothingIsKeptByASubscriptionThatIsOver(row: StreamCase, end: End) {
    let lifetimes = Lifetimes()
    var (feeds, subscription) = subscribe(to: row, lifetimes)
    for number in 0..<12 { feeds[number % 3].next(lifetimes.track(number)) }
    end.bring(about: subscription, feeds)
    // What never ends, and what tries again without an end, must be disposed.
    if row.name == "never" || row.name == "retry" { subscription.dispose() }
    #expect(feeds.map(\.subscriptions) == [0, 0, 0])
    // Both the subscription and the sources are still there.
    #expect(lifetimes.alive == 0)
    withExtendedLifetime((feeds, subscription)) {}
    feeds = []
    subscription = Disposables.create()
  }

  @Test(arguments: StreamCase.all)
  func disposalInsideADeliveryIsTheEnd(row: StreamCase) {
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
      // What comes before `subscribe` has answered cannot be prevented by the answer.
      #expect(delivered.elements.count <= max(1, atOnce))
      #expect(sources.feeds.map(\.subscriptions) == [0, 0, 0])
    }
    #expect(lifetimes.alive == 0)
  }

  /// A function of its own, so that no variable keeps what only the stream may.
  private func subscribe(
    to row: StreamCase, _ lifetimes: Lifetimes
  ) -> (feeds: [Feed<LifetimeTracked>], subscription: any Disposable) {
    let sources = StreamCase.Sources(lifetimes)
    let observed = lifetimes.track()
    let subscription = row.make(sources).subscribe { _ in withExtendedLifetime(observed) {} }
    return (sources.feeds, subscription)
  }
}
