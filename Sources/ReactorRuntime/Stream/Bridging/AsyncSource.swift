import ReactorCore

/// Streams of what asynchronous code brings.
extension Observable {
  /// The elements of an asynchronous sequence, which each subscription goes through in a task of its own.
  ///
  /// The task begins at the subscription and has its priority and its task-local values. It is cancelled at
  /// the disposal, after which nothing is told, whatever the sequence still brings or throws. Otherwise what
  /// the sequence throws is the failure of the stream.
  public init<Sequence: AsyncSequence & Sendable>(_ sequence: Sequence) where Sequence.Element == Element {
    self.init { observer in
      TaskSubscription.start(observer) { subscription in
        for try await element in sequence {
          if !subscription.next(element) { return }
        }
      }
    }
  }

  /// What one asynchronous call answers, then the end; its error, if it throws.
  ///
  /// Each subscription makes the call, in a task of its own that is cancelled at the disposal. What it
  /// answers or throws after that, a `CancellationError` included, is told nobody.
  ///
  /// - Parameters:
  ///   - priority: That of the task; nil for that of the subscriber.
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
  /// This sequence as a stream: see ``Observable/init(_:)``.
  public func asObservable() -> Observable<Element> { Observable(self) }
}

/// One subscription that a task serves.
///
/// The task may ignore that it is cancelled, and live on; so it does not hold the observer, but asks for it.
private final class TaskSubscription<Element: Sendable>: Disposable {
  private struct State: Sendable {
    /// Nil once the subscription is over.
    var observer: AnyObserver<Element>?
    var task: Task<Void, Never>?
  }

  private let state: SystemMutex<State>

  private init(_ observer: AnyObserver<Element>) { state = SystemMutex(State(observer: observer)) }

  /// Starts the task: what `body` passes on, and then the end that follows from how it ends.
  static func start(
    _ observer: AnyObserver<Element>, priority: TaskPriority? = nil,
    _ body: @escaping @Sendable (TaskSubscription) async throws -> Void
  ) -> any Disposable {
    let subscription = TaskSubscription(observer)
    let task = Task(priority: priority) {
      do {
        try await body(subscription)
        subscription.stop(.completed)
      } catch {
        subscription.stop(.error(error))
      }
    }
    subscription.hold(task)
    return subscription
  }

  /// The task only. False once the subscription is over.
  func next(_ element: Element) -> Bool {
    guard let observer = state.withLock({ $0.observer }) else { return false }
    observer.on(.next(element))
    return true
  }

  /// The task only.
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
    // The last reference to what the observer captures may go here, after the lock.
    _ = consume observer
  }

  /// Before anybody else knows this; but the task may have ended by now.
  private func hold(_ task: Task<Void, Never>) {
    state.withLock { state in
      if state.observer != nil { state.task = task }
    }
  }
}
