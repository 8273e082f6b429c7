import ReactorCore
import Synchronization
import TestSupport
import Testing

extension StressTests {
  /// Threads that read states without copying them: often, slowly, or only for a while.
  @Suite struct ReadersStress {
    @Test
    func `readers that hold a state for long see it whole and delay no thread`() {
      Scenario.announce("lasting readers")
      for (frequent, slow, changes) in [(1, 0, 60_000), (3, 0, 40_000), (2, 10, 10_000), (12, 0, 10_000)] {
        let parameters = "\(frequent) frequent, \(slow) slow, \(changes) changes"
        Scenario("lasting readers, \(parameters)").run {
          stay(TrackedPayload.self, frequent, slow, StressMode.rounds(changes), $0)
        }
      }
      // The owner changes such a state in registers.
      for (frequent, slow, changes) in [(3, 0, 40_000), (2, 10, 10_000)] {
        let parameters = "\(frequent) frequent, \(slow) slow, \(changes) changes of a plain state"
        Scenario("lasting readers, \(parameters)").run {
          stay(PlainPayload.self, frequent, slow, StressMode.rounds(changes), $0)
        }
      }
    }

    private func stay<P: Payload>(
      _: P.Type, _ frequent: Int, _ slow: Int, _ changes: Int, _ scenario: Scenario
    ) {
      let lifetimes = Lifetimes()
      do {
        let subject = Subject<P>(lifetimes)
        let isDone = Shared(Atomic(false))
        let crew = Crew(of: 1 + frequent + slow) { index -> String? in
          var disturbance = Disturbance(scenario.generator(index))
          if index == 0 {
            for _ in 0..<changes {
              // Now and then the pause is long enough for a reader to read the same state again.
              if disturbance.happens(onceIn: 4) { CurrentCore.pause(times: disturbance.below(64)) }
              disturbance.step()
              subject.change(lifetimes, disturbance.below(3))
            }
            isDone.value.store(true, ordering: .relaxed)
            return nil
          }
          var newest = 0
          while !isDone.value.load(ordering: .relaxed) {
            let isSlow = index > frequent && disturbance.happens(onceIn: 4)
            let complaint = subject.read(&newest) { if isSlow { DedicatedThread.yield() } }
            if let complaint { return complaint }
            // Frequent readers become idle for a while, and hold the pins that they keep.
            if index > 2, disturbance.happens(onceIn: 64) { disturbance.stop() }
          }
          return nil
        }
        for complaint in crew.join().compactMap({ $0 }) { Issue.record("\(complaint): \(scenario)") }
        // All threads have ended, and have released the pins that they kept.
        #expect(subject.state.wasHeldCount == 0, "\(scenario)")
        subject.change(lifetimes, 0)
        var newest = changes
        #expect(subject.read(&newest) {} == nil, "\(scenario)")
        #expect(newest == changes + 1, "\(scenario)")
        subject.change(lifetimes, 0)
        #expect(lifetimes.alive <= 2, "\(scenario)")
      }
      #expect(lifetimes.alive == 0, "\(scenario)")
    }

    @Test
    func `threads and states come and go while pins are kept`() {
      Scenario.announce("threads and states come and go")
      for lasting in [1, 4] {
        Scenario("coming and going, \(lasting) lasting readers").run {
          comeAndGo(lasting, StressMode.rounds(4000), $0)
        }
      }
    }

    private func comeAndGo(_ lasting: Int, _ rounds: Int, _ scenario: Scenario) {
      let lifetimes = Lifetimes()
      do {
        let stage = Stage(lifetimes)
        let crew = Crew(of: 2 + lasting) { index -> String? in
          var disturbance = Disturbance(scenario.generator(index))
          switch index {
          case 0: return stage.replaceSubjects(rounds, lifetimes, &disturbance)
          case 1: return stage.sendThreads(scenario, &disturbance)
          default: return stage.readWhileOpen(&disturbance)
          }
        }
        for complaint in crew.join().compactMap({ $0 }) { Issue.record("\(complaint): \(scenario)") }
      }
      #expect(lifetimes.alive == 0, "\(scenario)")
    }
  }
}

/// A state of several words that must all be equal.
private protocol Payload: Sendable {
  init(_ value: Int, _ lifetimes: Lifetimes)
  var first: Int { get }
  var middle: Int { get }
  var last: Int { get }
}

private struct TrackedPayload: Payload {
  let first: Int
  private let tracked: LifetimeTracked
  let last: Int

  init(_ value: Int, _ lifetimes: Lifetimes) {
    first = value
    tracked = lifetimes.track(value)
    last = value
  }

  var middle: Int { tracked.value }
}

/// The compiler may load it once, so a second look at it, after a pause, says nothing: what is checked is that a read finds one state
/// as a whole, and none older than the last one.
private struct PlainPayload: Payload {
  let first: Int
  let middle: Int
  let last: Int

  init(_ value: Int, _: Lifetimes) { (first, middle, last) = (value, value, value) }
}

private final class Subject<P: Payload>: Sendable {
  let state: OwnedState<P>

  init(_ lifetimes: Lifetimes) {
    do { state = try OwnedState() } catch { fatalError("\(error)") }
    _ = state.tryInitialize { P(0, lifetimes) }
    state.release()
  }

  /// Makes one turn. One thread at a time.
  func change(_ lifetimes: Lifetimes, _ way: Int) {
    // A reader that has freed a slot owns the state for a moment, to publish what was deferred.
    while !state.tryAcquire() { CurrentCore.pause() }
    switch way {
    case 0: state.change { $0 = P($0.first + 1, lifetimes) }
    case 1: state.replace { P($0.first + 1, lifetimes) }
    default:
      state.change { $0 = P($0.first + 1, lifetimes) }
      state.publish()
    }
    state.release()
  }

  /// Reads the state before and after `pause`, and returns what is wrong with it, or nil.
  func read(_ newest: inout Int, _ pause: () -> Void) -> String? {
    let seen: (first: Int, middle: Int, last: Int, after: Int)? = state.withValue { payload in
      let first = payload.first
      pause()
      return (first, payload.middle, payload.last, payload.first)
    }
    guard let seen else { return "no state" }
    guard seen.first == seen.middle, seen.first == seen.last, seen.first == seen.after else {
      return "a torn state: \(seen)"
    }
    if seen.first < newest { return "state \(seen.first) after \(newest)" }
    newest = seen.first
    return nil
  }
}

/// Holds the subject that is read at the moment.
private final class Stage: Sendable {
  private let subject: SystemMutex<Subject<TrackedPayload>>
  private let isOpen = Atomic(true)

  init(_ lifetimes: Lifetimes) { subject = SystemMutex(Subject(lifetimes)) }

  private var current: Subject<TrackedPayload> { subject.withLock { $0 } }

  /// Replaces the subject. Called by the owner; the thread that releases a subject last destroys it.
  func replaceSubjects(_ count: Int, _ lifetimes: Lifetimes, _ disturbance: inout Disturbance) -> String? {
    for _ in 0..<count {
      let next = Subject<TrackedPayload>(lifetimes)
      subject.withLock { $0 = next }
      for _ in 0..<disturbance.below(64) {
        disturbance.step()
        next.change(lifetimes, disturbance.below(3))
      }
    }
    isOpen.store(false, ordering: .relaxed)
    return nil
  }

  /// Threads that read for a while, and end while they keep pins.
  func sendThreads(_ scenario: Scenario, _ disturbance: inout Disturbance) -> String? {
    while isOpen.load(ordering: .relaxed) {
      let visit = disturbance
      _ = disturbance.below(1024)
      let complaint = Shared(SystemMutex<String?>(nil))
      DedicatedThread(named: "visitor") { [self] in
        var disturbance = visit
        let found = readForAWhile(&disturbance)
        complaint.value.withLock { $0 = found }
      }.join()
      if let found = complaint.value.withLock({ $0 }) { return found }
    }
    return nil
  }

  func readWhileOpen(_ disturbance: inout Disturbance) -> String? {
    while isOpen.load(ordering: .relaxed) {
      if let complaint = readForAWhile(&disturbance) { return complaint }
      disturbance.stop()
    }
    return nil
  }

  /// Reads often enough to keep a pin. Now and then it reads two subjects, one inside the other.
  private func readForAWhile(_ disturbance: inout Disturbance) -> String? {
    let (outer, inner) = (current, current)
    var newest = 0
    var newestInside = 0
    var complaint: String?
    for _ in 0..<disturbance.below(48) {
      let nests = disturbance.happens(onceIn: 8)
      let found = outer.read(&newest) {
        if nests { complaint = inner.read(&newestInside) {} ?? complaint }
      }
      if let complaint = found ?? complaint { return complaint }
      disturbance.step()
    }
    return nil
  }
}
