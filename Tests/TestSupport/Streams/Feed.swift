import ReactorCore
import ReactorRuntime

/// A stream that a test feeds by hand, from any threads, also from several at once.
///
/// Whoever subscribes gets what is sent from then on.
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

  /// Calls the observers that are there, in the order in which they came.
  public func send(_ event: Event<Element>) {
    let present = observers.withLock { $0.present }
    for (_, observer) in present.sorted(by: { $0.key < $1.key }) { observer.on(event) }
  }

  public func next(_ element: Element) { send(.next(element)) }

  public func fail(_ error: any Error = TestFailure()) { send(.error(error)) }

  public func complete() { send(.completed) }

  /// How many subscriptions there are.
  public var subscriptions: Int { observers.withLock { $0.present.count } }

  /// How many there have been.
  public var totalSubscriptions: Int { observers.withLock { $0.total } }
}

/// The error of a stream that a test makes fail.
public struct TestFailure: Error, CustomStringConvertible {
  private let name: String

  public init(_ name: String = "failure") { self.name = name }

  public var description: String { name }
}

/// What the stream says until it ends or this returns, as text.
public func events<Element>(of stream: Observable<Element>) -> [String] {
  let record = Record<String>()
  stream.subscribe { record.append("\($0)") }.dispose()
  return record.elements
}

extension Record<String> {
  /// Subscribes, and writes each event down as text.
  public func observe<Value>(_ stream: Observable<Value>) -> any Disposable {
    stream.subscribe { self.append("\($0)") }
  }
}
