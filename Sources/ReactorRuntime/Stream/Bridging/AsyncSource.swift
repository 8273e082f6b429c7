import ReactorCore

/// Streams of what asynchronous code brings.
extension Observable {
  /// Creates a stream of the elements of an asynchronous sequence. Each subscription iterates over it in a
  /// task of its own.
  ///
  /// The task begins at the subscription and has the subscriber's priority and task-local values. Disposal
  /// cancels it; nothing is delivered afterwards, whatever the sequence still returns or throws. Otherwise
  /// what the sequence throws is the failure of the stream.
  public init<Sequence: AsyncSequence & Sendable>(_ sequence: Sequence) where Sequence.Element == Element {
    self.init { observer in
      TaskSubscription.start(observer) { subscription in
        for try await element in sequence {
          if !subscription.next(element) { return }
        }
      }
    }
  }

  /// Returns a stream of the result of one asynchronous call, then the end; of its error, if it throws.
  ///
  /// Each subscription makes the call, in a task of its own, which disposal cancels. What the call returns or
  /// throws after that, a `CancellationError` included, is not delivered.
  ///
  /// - Parameters:
  ///   - priority: The task's priority; nil for that of the subscriber.
  ///   - operation: The call.
  public static func task(
    priority: TaskPriority? = nil, _ operation: @escaping @Sendable () async throws -> Element
  ) -> Observable {
    Observable { observer in
      TaskSubscription.start(observer, priority: priority) { subscription in
        _ = subscription.next(try await operation())
      }
    }
  }
}

extension AsyncSequence where Self: Sendable, Element: Sendable {
  /// Returns this sequence as a stream. As ``Observable/init(_:)``, but completes if the sequence throws a `CancellationError`,
  /// as in RxSwift.
  ///
  /// - Parameter priority: The priority of the tasks; nil for that of the subscriber.
  public func asObservable(priority: TaskPriority? = nil) -> Observable<Element> {
    Observable { observer in
      TaskSubscription.start(observer, priority: priority) { subscription in
        do {
          for try await element in self {
            if !subscription.next(element) { return }
          }
        } catch is CancellationError {}
      }
    }
  }
}

extension PrimitiveSequence where Trait == SingleTrait {
  /// Returns a single of the result of an asynchronous call; of its error, if it throws.
  ///
  /// Each subscription makes the call, in a task of its own, which disposal cancels. What the call returns or throws after
  /// that is not delivered.
  ///
  /// - Parameters:
  ///   - detached: Whether the task is detached: then it has no task-local values of the subscriber.
  ///   - priority: The task's priority; nil for that of the subscriber, or for that of detached tasks.
  ///   - work: The call.
  @_disfavoredOverload
  public static func create(
    detached: Bool = false, priority: TaskPriority? = nil,
    work: @escaping @Sendable () async throws -> Element
  ) -> Single<Element> {
    Single(
      trusted: Observable { observer in
        TaskSubscription.start(observer, detached: detached, priority: priority) { subscription in
          _ = subscription.next(try await work())
        }
      })
  }
}

/// One subscription that a task serves.
///
/// The task may ignore its cancellation and live on. So it does not retain the observer, but asks for it.
private final class TaskSubscription<Element: Sendable>: Disposable {
  private struct State: Sendable {
    /// Nil once the subscription is over.
    var observer: AnyObserver<Element>?
    var task: Task<Void, Never>?
  }

  private let state: SystemMutex<State>

  private init(_ observer: AnyObserver<Element>) { state = SystemMutex(State(observer: observer)) }

  /// Starts a task that runs `body`, and then delivers the stop event that follows from how `body` has ended.
  static func start(
    _ observer: AnyObserver<Element>, detached: Bool = false, priority: TaskPriority? = nil,
    _ body: @escaping @Sendable (TaskSubscription) async throws -> Void
  ) -> any Disposable {
    let subscription = TaskSubscription(observer)
    let run: @Sendable () async -> Void = {
      do {
        try await body(subscription)
        subscription.stop(.completed)
      } catch {
        subscription.stop(.error(error))
      }
    }
    subscription.hold(
      detached
        ? Task.detached(priority: priority, operation: run) : Task(priority: priority, operation: run))
    return subscription
  }

  /// Delivers an element. Called by the task only. False once the subscription is over.
  func next(_ element: Element) -> Bool {
    guard let observer = state.withLock({ $0.observer }) else { return false }
    observer.on(.next(element))
    return true
  }

  /// Delivers the stop event. Called by the task only.
  func stop(_ event: Event<Element>) {
    let observer = state.withLock { state in
      state.task = nil
      return state.observer.take()
    }
    observer?.on(event)
  }

  func dispose() {
    let (task, observer) = state.withLock { ($0.task.take(), $0.observer.take()) }
    task?.cancel()
    // This may be the last reference to what the observer captures: it is destroyed after the lock.
    _ = consume observer
  }

  /// Keeps the task, so that disposal can cancel it; unless the task has ended by now.
  private func hold(_ task: Task<Void, Never>) {
    state.withLock { state in
      if state.observer != nil { state.task = task }
    }
  }
}
