import ReactorRuntime
import Synchronization
import TestSupport

/// One round: two threads that emit, two that run the timers, and one that ends the round.
struct Storm<Element: Sendable> {
  private static var emitters: Int { 2 }
  private static var elements: Int { 150 }

  let probe = TimingProbe(emitters: Storm.emitters)
  private let ending: Ending
  private let round: Int
  private let scenario: Scenario
  private let scheduler: StormScheduler
  private let audience = Guarded(Audience())

  private struct Audience: Sendable {
    /// The observers of the source.
    var observers: [AnyObserver<Element>] = []
    /// How the source ended, for observers that subscribe later.
    var stop: Event<Element>?
  }

  init(_ ending: Ending, _ round: Int, _ scenario: Scenario, _ scheduler: StormScheduler) {
    self.ending = ending
    self.round = round
    self.scenario = scenario
    self.scheduler = scheduler
  }

  /// The number of elements.
  var total: Int { Self.emitters * Self.elements }

  /// Emits to the present observers, from both emitting threads at once.
  var source: Observable<Element> {
    .create { [audience] observer in
      let stop = audience.with { audience in
        audience.observers.append(observer)
        return audience.stop
      }
      if let stop { observer.on(stop) }
      return Disposables.create()
    }
  }

  /// - Parameter emit: Makes an element from its number. Nil if the stream has no source.
  func run(
    _ stream: Observable<Element>, _ place: @escaping @Sendable (Element) -> (emitter: Int, number: Int),
    emit: (@Sendable (Int) -> Element)?
  ) {
    let subscription = SerialDisposable()
    let probe = probe
    var generator = scenario.generator(round)
    let limit = ending == .disposedByObserver ? 1 + generator.below(40) : Int.max
    subscription.disposable = stream.subscribe { event in
      probe.receive(event, at: place)
      if probe.delivered == limit {
        subscription.dispose()
        probe.noteDisposal()
      }
    }
    let busy = Shared(Atomic(Self.emitters + 1))
    let emitting = Shared(Atomic(Self.emitters))
    Crew(of: 5) { [self] index in
      var disturbance = Disturbance(scenario.generator(round * 8 + index))
      switch index {
      case 0, 1:
        if let emit { self.emit(emit, index, emitting, &disturbance) }
        busy.value.wrappingSubtract(1, ordering: .acquiringAndReleasing)
      case 2:
        end(subscription, hasSource: emit != nil, &disturbance)
        busy.value.wrappingSubtract(1, ordering: .acquiringAndReleasing)
      default:
        while busy.value.load(ordering: .acquiring) > 0 {
          if !scheduler.runOne(&disturbance) { disturbance.idle() }
        }
      }
    }.join()
    subscription.dispose()
    // A subscription that ends on the scheduler needs the scheduler once more.
    var disturbance = Disturbance(scenario.generator(round))
    while scheduler.runOne(&disturbance) {}
    // The closures are destroyed outside of the lock.
    _ = audience.with { audience in
      defer { audience = Audience() }
      return audience
    }
  }

  private func emit(
    _ make: @Sendable (Int) -> Element, _ index: Int, _ emitting: Shared<Atomic<Int>>,
    _ disturbance: inout Disturbance
  ) {
    while audience.with({ $0.observers.isEmpty }) && !ending.isDisposal { disturbance.idle() }
    for number in 0..<Self.elements {
      tell { .next(make(number * 8 + index)) }
      disturbance.step()
    }
    if emitting.value.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue > 0 { return }
    if ending == .disposed && round % 2 == 0 { return }
    let stop: Event<Element> = ending == .failed ? .error(RxError.unknown) : .completed
    audience.with { $0.stop = stop }
    tell { stop }
  }

  /// Calls the observers that are present at its beginning, one after the other. It does not copy the array, because
  /// ThreadSanitizer does not understand how copies of an array share their memory.
  private func tell(_ event: () -> Event<Element>) {
    for index in 0..<audience.with({ $0.observers.count }) {
      audience.with { $0.observers[index] }.on(event())
    }
  }

  private func end(_ subscription: SerialDisposable, hasSource: Bool, _ disturbance: inout Disturbance) {
    // Only one thread disposes: a second disposal may return while the first is under way.
    if ending == .disposed || (!hasSource && !ending.isDisposal) {
      for _ in 0..<disturbance.below(400) { disturbance.step() }
      subscription.dispose()
      probe.noteDisposal()
    } else if !Threads.yield(seconds: 20, until: { probe.hasStopped || probe.isDisposed }) {
      probe.complain("neither stopped nor was disposed of")
    }
  }
}

/// A scheduler that keeps times, but no order: actions that are due run in random order, on the threads that call
/// ``runOne(_:)``.
final class StormScheduler: SchedulerType {
  private struct Entry: Sendable {
    let number: Int
    var due: Duration
    let period: Duration?
    let action: @Sendable () -> Void
  }

  private struct Entries: Sendable {
    var waiting: [Entry] = []
    /// The periodic actions that run at the moment and must go on.
    var running: Set<Int> = []
    var told = 0
  }

  private let entries = Guarded(Entries())
  private let begin = ContinuousClock.now

  var now: Duration { begin.duration(to: .now) }

  func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable { add(.zero, nil, action) }

  func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable {
    add(delay, nil, action)
  }

  func schedulePeriodic(
    after delay: Duration, every period: Duration, _ action: @escaping @Sendable () -> Void
  ) -> any Disposable { add(delay, period, action) }

  private func add(
    _ delay: Duration, _ period: Duration?, _ action: @escaping @Sendable () -> Void
  ) -> any Disposable {
    let due = now + delay
    let number = entries.with { entries in
      entries.told += 1
      entries.waiting.append(Entry(number: entries.told, due: due, period: period, action: action))
      return entries.told
    }
    return Disposables.create { [weak self] in self?.remove(number) }
  }

  private func remove(_ number: Int) {
    // The closures are destroyed outside of the lock.
    _ = entries.with { entries in
      entries.running.remove(number)
      return entries.waiting.firstIndex { $0.number == number }.map { entries.waiting.remove(at: $0) }
    }
  }

  /// Runs an action that is due. Returns false if there is none. Any thread.
  func runOne(_ disturbance: inout Disturbance) -> Bool {
    let now = now
    let choice = disturbance.below(1 << 16)
    let entry: Entry? = entries.with { entries in
      let due = entries.waiting.indices.filter { entries.waiting[$0].due <= now }
      if due.isEmpty { return nil }
      let entry = entries.waiting.remove(at: due[choice % due.count])
      if entry.period != nil { entries.running.insert(entry.number) }
      return entry
    }
    guard var entry else { return false }
    disturbance.step()
    entry.action()
    if let period = entry.period {
      entry.due += period
      let next = entry
      entries.with { entries in
        if entries.running.remove(next.number) != nil { entries.waiting.append(next) }
      }
    }
    return true
  }

  /// Drops everything that waits.
  func clear() {
    _ = entries.with { entries in
      defer { entries.waiting = [] }
      return entries.waiting
    }
  }

  var isEmpty: Bool { entries.with { $0.waiting.isEmpty } }
}
