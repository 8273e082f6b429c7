import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// A reactor whose methods, including the transforms, are closures, with ReactorKit's form of reduce. By default its
/// state is the list of its mutations.
final class Play: ReactorKitReactor {
  typealias Action = String
  typealias Mutation = String
  typealias State = [String]

  struct Parts: Sendable {
    var transformAction: @Sendable (Play, Observable<String>) -> Observable<String> = { $1 }
    var mutate: @Sendable (Play, String) -> Observable<String> = { .just($1) }
    var transformMutation: @Sendable (Play, Observable<String>) -> Observable<String> = { $1 }
    var initial: @Sendable (Play) -> [String] = { _ in [] }
    var reduce: @Sendable (Play, [String], String) -> [String] = { $1 + [$2] }
    var transformState: @Sendable (Play, Observable<[String]>) -> Observable<[String]> = { $1 }
  }

  let runtime: Runtime<String, String, [String]>
  let failures: Record<Failure>
  private let parts: Parts
  private let kept: (any Sendable)?

  /// - Parameter keeping: An object that the reactor retains.
  init(
    on placement: Placement, capacity: Int = 64, keeping: (any Sendable)? = nil,
    _ change: (inout Parts) -> Void = { _ in }
  ) {
    let failures = Record<Failure>()
    runtime = Runtime(on: placement, capacity: capacity, onFailure: { failures.append($0) })
    self.failures = failures
    kept = keeping
    var parts = Parts()
    change(&parts)
    self.parts = parts
  }

  var initialState: [String] { parts.initial(self) }

  func transform(action: Observable<String>) -> Observable<String> { parts.transformAction(self, action) }
  func mutate(action: String) -> Observable<String> { parts.mutate(self, action) }
  func transform(mutation: Observable<String>) -> Observable<String> {
    parts.transformMutation(self, mutation)
  }
  func reduce(state: [String], mutation: String) -> [String] { parts.reduce(self, state, mutation) }
  func transform(state: Observable<[String]>) -> Observable<[String]> { parts.transformState(self, state) }
}

extension Play {
  /// Enables the stub, and disables it inside of the turn that takes "stubbed", where an observer of `state` subscribes; then sends
  /// "a". Returns what that observer gets.
  func observeInTheTurnThatDisablesTheStub(on stage: Stage) -> [[String]] {
    let seen = Record<[String]>()
    isStubEnabled = true
    // The stub's observers are called inside the turn.
    stub.action.subscribe(onNext: { [unowned self] _ in
      isStubEnabled = false
      state.subscribe(onNext: { seen.append($0) })
    })
    send("stubbed")
    #expect(Threads.yield { !seen.elements.isEmpty })
    send(["a"])
    #expect(stage.finish())
    return seen.elements
  }

  /// Sends each action through the subject.
  func send(_ actions: [String]) { for action in actions { self.action.onNext(action) } }

  /// The reported failures in a short form.
  var reports: [String] {
    failures.elements.map { failure in
      switch failure.cause {
      case .actionNotDelivered(let reason):
        "action \(failure.action as? String ?? "?"): \(Self.name(of: reason))"
      case .mutationNotDelivered(let reason):
        "mutation of \(failure.action as? String ?? "?"): \(Self.name(of: reason))"
      case .stateNotDelivered(let reason): "state: \(Self.name(of: reason))"
      case .mutate(let error): "mutate \(failure.action as? String ?? "?"): \(error)"
      case .transform(let transform, let error): "transform \(transform): \(error.map { "\($0)" } ?? "end")"
      }
    }
  }

  private static func name(of reason: SendError) -> String {
    switch reason {
    case .full: "full"
    case .closed: "closed"
    case .deadlock: "deadlock"
    case .reentrantOverflow: "overflow"
    case .dropped, .timedOut, .cancelled, .outOfMemory: "\(reason)"
    }
  }

  /// Waits until everything that was sent before is processed.
  func settle() -> Bool {
    let isReached = Gate()
    let subscription = state.subscribe(onNext: { _ in isReached.open() })
    defer { subscription.dispose() }
    return isReached.wait()
  }
}

/// A variable that a test shares with closures.
final class Box<Value>: @unchecked Sendable {
  // Unchecked, because each test makes sure that one thread at a time accesses it.
  var value: Value

  init(_ value: Value) { self.value = value }
}
