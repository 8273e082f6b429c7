import ReactorCore
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

extension StressTests {
  /// The operators with timers under concurrent emission and disposal, with timers that fire in any order.
  @Suite struct TimingStress {
    @Test(arguments: TimedOperator.allCases)
    func `operators with timers keep the grammar, and leave nothing behind`(operation: TimedOperator) {
      Scenario.announce("timing, \(operation)")
      for ending in Ending.allCases {
        Scenario("timing, \(operation), \(ending)").run { scenario in
          for round in 0..<StressMode.rounds(30) { run(operation, ending, round, scenario) }
        }
      }
    }

    private func run(_ operation: TimedOperator, _ ending: Ending, _ round: Int, _ scenario: Scenario) {
      let lifetimes = Lifetimes()
      let scheduler = StormScheduler()
      let due = Duration.microseconds(20 + round % 4 * 20)
      let probe: TimingProbe
      let mustBeAll: Int?
      if let counting = operation.counting(due, scheduler) {
        let storm = Storm<Int>(ending, round, scenario, scheduler)
        storm.run(counting, { (0, $0) }, emit: nil)
        (probe, mustBeAll) = (storm.probe, nil)
      } else {
        let storm = Storm<LifetimeTracked>(ending, round, scenario, scheduler)
        storm.run(
          operation.apply(storm.source, due, scheduler), { ($0.value % 8, $0.value / 8) },
          emit: { lifetimes.track($0) })
        (probe, mustBeAll) = (storm.probe, operation.isLossless && ending == .completed ? storm.total : nil)
      }
      for complaint in Set(probe.found) { Issue.record("\(complaint): \(scenario), round \(round)") }
      if let mustBeAll { #expect(probe.delivered == mustBeAll, "\(scenario), round \(round)") }
      #expect(scheduler.isEmpty, "a timer is left: \(scenario), round \(round)")
      #expect(lifetimes.alive == 0, "\(scenario), round \(round)")
    }
  }
}

/// How a round ends.
enum Ending: String, CaseIterable, Sendable {
  case completed, failed, disposed, disposedByObserver

  var isDisposal: Bool { self == .disposed || self == .disposedByObserver }
}

enum TimedOperator: String, CaseIterable, Codable, Sendable {
  case delay, delaySubscription, debounce, throttle, throttleFirst, timeout, timeoutOther
  case takeFor, skipFor
  case observeOn, subscribeOn, interval, timer

  /// Whether a stream that completes has delivered everything.
  var isLossless: Bool {
    switch self {
    case .delay, .delaySubscription, .observeOn, .subscribeOn: true
    default: false
    }
  }

  func apply<Element>(
    _ source: Observable<Element>, _ due: Duration, _ scheduler: StormScheduler
  ) -> Observable<Element> {
    switch self {
    case .delay: source.delay(due, scheduler: scheduler)
    case .delaySubscription: source.delaySubscription(due, scheduler: scheduler)
    case .debounce: source.debounce(due, scheduler: scheduler)
    case .throttle: source.throttle(due, scheduler: scheduler)
    case .throttleFirst: source.throttle(due, latest: false, scheduler: scheduler)
    case .timeout: source.timeout(due * 8, scheduler: scheduler)
    // The other stream is the same one, which goes on emitting. So there are two sources that both call.
    case .timeoutOther: source.timeout(due, other: source, scheduler: scheduler)
    case .takeFor: source.take(for: due, scheduler: scheduler)
    case .skipFor: source.skip(due, scheduler: scheduler)
    case .observeOn: source.observe(on: scheduler)
    case .subscribeOn: source.subscribe(on: scheduler)
    case .interval, .timer: preconditionFailure("\(self) has no source")
    }
  }

  /// The operators without a source.
  func counting(_ due: Duration, _ scheduler: StormScheduler) -> Observable<Int>? {
    switch self {
    case .interval: .interval(due / 10, scheduler: scheduler)
    case .timer: .timer(due, scheduler: scheduler)
    default: nil
    }
  }
}

/// An observer that records violations of the grammar: overlapping calls, events after a stop event, deliveries that
/// begin after the disposal, and elements of one emitter out of order.
final class TimingProbe: @unchecked Sendable {
  // Unchecked: only the observer accesses the plain variables. If a stream fails to order its calls, ThreadSanitizer
  // reports a race here.
  private var lastOfEmitter: [Int]
  private var count = 0
  private var lateDeliveries = 0

  private let inside = Atomic(0)
  private let stops = Atomic(0)
  private let disposals = Atomic(0)
  private let complaints = Guarded<[String]>([])

  init(emitters: Int) { lastOfEmitter = Array(repeating: -1, count: emitters) }

  var found: [String] { complaints.with { $0 } }
  var hasStopped: Bool { stops.load(ordering: .acquiring) > 0 }
  var isDisposed: Bool { disposals.load(ordering: .acquiring) > 0 }

  /// The first violation. To be read when the stream or all other threads have stopped.
  var delivered: Int { count }

  func complain(_ text: String) { complaints.with { $0.append(text) } }

  /// Records that the disposal has returned.
  func noteDisposal() { disposals.store(1, ordering: .sequentiallyConsistent) }

  /// - Parameter place: The thread that emitted an element, and the element's number among those of that thread.
  func receive<Element>(_ event: Event<Element>, at place: (Element) -> (emitter: Int, number: Int)) {
    // Relaxed: it must not order the calls, because ordering them is what the stream has to do.
    if inside.wrappingAdd(1, ordering: .relaxed).oldValue != 0 { complain("two calls at once") }
    if stops.load(ordering: .relaxed) > 0 { complain("an event after a stop event") }
    if disposals.load(ordering: .sequentiallyConsistent) > 0 {
      // One delivery may have been about to begin. A second one begins too late.
      lateDeliveries += 1
      if lateDeliveries > 1 { complain("deliveries after the disposal") }
    }
    if case .next(let element) = event {
      let (emitter, number) = place(element)
      if number <= lastOfEmitter[emitter] { complain("\(number) of \(emitter) out of order") }
      lastOfEmitter[emitter] = number
      count += 1
    }
    CurrentCore.pause(times: 4)
    inside.wrappingSubtract(1, ordering: .relaxed)
    if event.isStopEvent { stops.wrappingAdd(1, ordering: .releasing) }
  }
}
