import ReactorCore
import ReactorRuntime

/// A stream whose events a test sends by hand, from any threads, also from several at once.
///
/// An observer receives the events that are sent after it has subscribed.
public final class Feed<Element: Sendable>: Sendable {
  private struct Observers: Sendable {
    var present: [Int: AnyObserver<Element>] = [:]
    var total = 0
  }

  private let observers = SystemMutex(Observers())

  public init() {}

  public var stream: Observable<Element> {
    .create { [self] observer in
      let number = observers.withLock { observers in
        observers.total += 1
        observers.present[observers.total] = observer
        return observers.total
      }
      return Disposables.create { [self] in
        let removed = observers.withLock { $0.present.removeValue(forKey: number) }
        // Released only now, outside the lock.
        withExtendedLifetime(removed) {}
      }
    }
  }

  /// Calls the present observers, in the order of their subscriptions.
  public func send(_ event: Event<Element>) {
    let present = observers.withLock { $0.present }
    for (_, observer) in present.sorted(by: { $0.key < $1.key }) { observer.on(event) }
  }

  public func next(_ element: Element) { send(.next(element)) }

  public func fail(_ error: any Error = TestFailure()) { send(.error(error)) }

  public func complete() { send(.completed) }

  /// The number of present subscriptions.
  public var subscriptions: Int { observers.withLock { $0.present.count } }

  /// The number of all subscriptions so far.
  public var totalSubscriptions: Int { observers.withLock { $0.total } }
}

/// The error of a stream that a test makes fail.
public struct TestFailure: Error, CustomStringConvertible {
  private let name: String

  public init(_ name: String = "failure") { self.name = name }

  public var description: String { name }
}

/// The events that the stream emits until it ends or this returns, as text.
public func events<Element>(of stream: Observable<Element>) -> [String] {
  let record = Record<String>()
  stream.subscribe { record.append("\($0)") }.dispose()
  return record.elements
}

extension Record<String> {
  /// Subscribes, and records each event as text.
  public func observe<Value>(_ stream: Observable<Value>) -> any Disposable {
    stream.subscribe { self.append("\($0)") }
  }
}
