import ReactorCore
import ReactorRuntime
import Synchronization

/// An observer that notes every breach of the grammar of events: calls that overlap, events after a stop
/// event, and deliveries that begin after the disposal.
///
/// Its own marks are relaxed and so order nothing: ThreadSanitizer reports successive calls that are not
/// ordered.
final class GrammarChecker<Element: Sendable>: @unchecked Sendable {
  // Unchecked: `calls` and `hasStopped` are what is checked; the grammar makes them one thread's at a time.
  private var calls = 0
  private var hasStopped = false
  private let inside = Atomic(0)
  private let isDisposed = Atomic(false)
  private let lateCalls = Atomic(0)
  private let breaches = Guarded<[String]>([])
  private let during: @Sendable (Int) -> Bool

  /// - Parameter during: Called inside each delivery, with its number from 1 on; answers whether it disposed
  ///   of the subscription.
  init(during: @escaping @Sendable (Int) -> Bool) { self.during = during }

  /// After the subscription's `dispose()` has returned.
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

  /// How many deliveries there were. Once nothing runs any more.
  var count: Int { calls }

  /// What was wrong. Once nothing runs any more.
  ///
  /// - Parameter lateCallsAllowed: A delivery that another thread had begun, but which had not come here yet,
  ///   is no breach; as they come one at a time there is one at most.
  func verdict(lateCallsAllowed: Int) -> [String] {
    let late = lateCalls.load(ordering: .relaxed)
    return breaches.with { $0 } + (late > lateCallsAllowed ? ["\(late) deliveries after the disposal"] : [])
  }

  private func breach(_ text: String) { breaches.with { if $0.count < 10 { $0.append(text) } } }
}
