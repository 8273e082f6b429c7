import ReactorCore
import ReactorRuntime

/// Records what it is told, and when, in virtual time. Any thread.
public final class TestableObserver<Element: Sendable>: ObserverType {
  private let scheduler: TestScheduler
  private let recorded = SystemMutex<[Recorded<Event<Element>>]>([])

  init(_ scheduler: TestScheduler) { self.scheduler = scheduler }

  /// What it was told until now.
  public var events: [Recorded<Event<Element>>] { recorded.withLock { $0 } }

  public func on(_ event: Event<Element>) {
    let time = scheduler.clock
    recorded.withLock { $0.append(Recorded(time: time, value: event)) }
  }
}
