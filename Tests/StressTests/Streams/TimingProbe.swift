import ReactorCore
import ReactorRuntime
import Synchronization

/// An observer that complains about what breaks the grammar: overlapping calls, events after a stop event,
/// deliveries that begin after the disposal, elements of one emitter out of order.
final class TimingProbe: @unchecked Sendable {
  // Unchecked: the plain variables are touched by the observer only. If a stream fails to order its calls,
  // ThreadSanitizer sees it here.
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

  /// Read it when the stream has stopped, or everybody else.
  var delivered: Int { count }

  func complain(_ text: String) { complaints.with { $0.append(text) } }

  /// The disposal has returned.
  func noteDisposal() { disposals.store(1, ordering: .sequentiallyConsistent) }

  /// - Parameter place: Of an element: who emitted it, and which of his it is.
  func receive<Element>(_ event: Event<Element>, at place: (Element) -> (emitter: Int, number: Int)) {
    // Relaxed: it must not order the calls, which is what the stream has to do.
    if inside.wrappingAdd(1, ordering: .relaxed).oldValue != 0 { complain("two calls at once") }
    if stops.load(ordering: .relaxed) > 0 { complain("an event after a stop event") }
    if disposals.load(ordering: .sequentiallyConsistent) > 0 {
      // One may have been about to begin; a second begins afterwards.
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
