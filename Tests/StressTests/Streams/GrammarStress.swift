import ReactorCore
import Synchronization
import TestSupport
import Testing

@testable import ReactorRuntime

extension StressTests {
  /// Every kind of stream, with sources that send, end and fail on several threads at once, while the subscription is
  /// disposed of. That nothing is lost is checked by `DeliveryStress`.
  @Suite struct GrammarStress {
    private typealias Element = StreamCase.Element

    /// Which thread disposes of the subscription.
    private enum Disposal: CaseIterable {
      case fromOutside, insideADelivery, atTheEnd
    }

    /// How the stream is observed.
    private enum Subscribing: CaseIterable {
      /// As users do.
      case subscribe
      /// As operators do, without the sink of a subscription, which would hide violations of the stream.
      case run
    }

    @Test(arguments: StreamCase.all)
    func `observers see the grammar whatever the sources do, and nothing leaks`(row: StreamCase) {
      Scenario.announce("grammar, \(row)")
      for disposal in Disposal.allCases {
        for subscribing in Subscribing.allCases {
          Scenario("grammar, \(row), disposed \(disposal), by \(subscribing)").run { scenario in
            for round in 0..<StressMode.rounds(20) {
              let lifetimes = Lifetimes()
              let breaches = play(row, disposal, subscribing, scenario, round, lifetimes)
              #expect(breaches == [], "\(scenario), round \(round)")
              #expect(lifetimes.alive == 0, "\(scenario), round \(round): leaked")
              if !breaches.isEmpty || lifetimes.alive != 0 { return }
            }
          }
        }
      }
    }

    /// - Returns: The violations.
    private func play(
      _ row: StreamCase, _ disposal: Disposal, _ subscribing: Subscribing, _ scenario: Scenario,
      _ round: Int, _ lifetimes: Lifetimes
    ) -> [String] {
      var choices = scenario.generator(round * 16)
      let sources = StreamCase.Sources(lifetimes)
      let subscription = Guarded<(any Disposable)?>(nil)
      let disposingCall = disposal == .insideADelivery ? 1 + choices.below(12) : 0
      let reentrantCall = 1 + choices.below(8)
      let checker = GrammarChecker<Element> { number in
        if number == reentrantCall {
          for feed in sources.feeds { feed.next(lifetimes.track(number)) }
        }
        // Nil while the stream sends what it has at the subscription.
        guard number == disposingCall, let disposable = subscription.with({ $0 }) else { return false }
        disposable.dispose()
        return true
      }
      let stream = row.make(sources)
      let made =
        switch subscribing {
        case .subscribe: stream.subscribe(checker.on)
        case .run: EmissionQueue.join { stream.run(AnyObserver(eventHandler: checker.on)) }
        }
      subscription.with { $0 = made }
      let stops = choices.below(3)
      let crew = Crew(of: disposal == .fromOutside ? 4 : 3) { thread in
        var disturbance = Disturbance(scenario.generator(round * 16 + 1 + thread))
        if thread == 3 {
          for _ in 0..<disturbance.below(60) { disturbance.step() }
          made.dispose()
          return checker.noteDisposal()
        }
        for step in 0..<40 {
          disturbance.step()
          let event = event(number: step * 3 + thread, stops: stops, &disturbance, lifetimes)
          sources.feeds[disturbance.below(3)].send(event)
        }
      }
      crew.join()
      made.dispose()
      checker.noteDisposal()
      subscription.with { $0 = nil }
      let count = checker.count
      for feed in sources.feeds { feed.next(lifetimes.track()) }
      let after = checker.count == count ? [] : ["a delivery long after the disposal"]
      let kept = sources.feeds.map(\.subscriptions) == [0, 0, 0] ? [] : ["a source that was not ended"]
      return checker.verdict(lateCallsAllowed: disposal == .fromOutside ? 1 : 0) + after + kept
    }

    /// Returns mostly an element. The larger `stops`, the more often a stop event.
    private func event(
      number: Int, stops: Int, _ disturbance: inout Disturbance, _ lifetimes: Lifetimes
    ) -> Event<Element> {
      if disturbance.below(200) >= stops * 10 { return .next(lifetimes.track(number)) }
      return disturbance.happens(onceIn: 2) ? .completed : .error(TestFailure())
    }
  }
}

/// An observer that records every violation of the grammar of events: calls that overlap, events after a stop event,
/// and deliveries that begin after the disposal.
///
/// Its own atomics are relaxed and so order nothing: ThreadSanitizer reports successive calls that are not ordered.
final class GrammarChecker<Element: Sendable>: @unchecked Sendable {
  // Unchecked: the grammar allows one thread at a time to access `calls` and `hasStopped`, which is what is tested.
  private var calls = 0
  private var hasStopped = false
  private let inside = Atomic(0)
  private let isDisposed = Atomic(false)
  private let lateCalls = Atomic(0)
  private let breaches = Guarded<[String]>([])
  private let during: @Sendable (Int) -> Bool

  /// - Parameter during: Called inside each delivery, with its number from 1 on. Returns whether it disposed of the
  ///   subscription.
  init(during: @escaping @Sendable (Int) -> Bool) { self.during = during }

  /// To be called after the subscription's `dispose()` has returned.
  func noteDisposal() { isDisposed.store(true, ordering: .relaxed) }

  func on(_ event: Event<Element>) {
    if isDisposed.load(ordering: .relaxed) { lateCalls.wrappingAdd(1, ordering: .relaxed) }
    if inside.wrappingAdd(1, ordering: .relaxed).oldValue != 0 { breach("an overlap at \(event)") }
    if hasStopped { breach("\(event) after a stop event") }
    calls += 1
    if event.isStopEvent { hasStopped = true }
    if during(calls) { noteDisposal() }
    inside.wrappingSubtract(1, ordering: .relaxed)
  }

  /// The number of deliveries. To be read when nothing runs any more.
  var count: Int { calls }

  /// The violations. To be read when nothing runs any more.
  ///
  /// - Parameter lateCallsAllowed: A delivery that another thread had begun before the disposal, but which had not
  ///   arrived here yet, is no violation. Since deliveries come one at a time there is at most one.
  func verdict(lateCallsAllowed: Int) -> [String] {
    let late = lateCalls.load(ordering: .relaxed)
    return breaches.with { $0 } + (late > lateCallsAllowed ? ["\(late) deliveries after the disposal"] : [])
  }

  private func breach(_ text: String) { breaches.with { if $0.count < 10 { $0.append(text) } } }
}
