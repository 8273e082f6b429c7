import CBenchmarkLimits
import Dispatch
import ReactorRuntime
import Synchronization

/// An action that carries an item.
protocol CarryingAction: Sendable {
  /// What the code that sends has before, and the actions share with it.
  associatedtype Parts: Sendable
  static func makeParts() -> Parts
  static func make(_ item: Item, _ parts: Parts) -> Self
  var item: Item { get }
}

/// The item alone.
struct PlainAction: CarryingAction {
  let item: Item

  static func makeParts() {}

  @inline(__always)
  static func make(_ item: Item, _: Void) -> PlainAction { PlainAction(item: item) }
}

/// As a service has it: an enum with a string, an array and an object.
enum RichAction: CarryingAction {
  case place(Item, name: String, amounts: [UInt64], origin: Origin)
  case cancel(Item, name: String)

  final class Origin: Sendable {
    let number: UInt64
    init(_ number: UInt64) { self.number = number }
  }

  typealias Parts = (name: String, amounts: [UInt64], origin: Origin)

  static func makeParts() -> Parts {
    // The string is too long to be without an object.
    ("order 0123456789 of the customer", [1, 2, 3], Origin(0))
  }

  @inline(__always)
  static func make(_ item: Item, _ parts: Parts) -> RichAction {
    .place(item, name: parts.name, amounts: parts.amounts, origin: parts.origin)
  }

  /// Reads each part, so that none is left out.
  @inline(__always)
  var item: Item {
    switch self {
    case .place(let item, let name, let amounts, let origin):
      let isWhole = name.utf8.count > 15 && amounts.count == 3
      return Item(producer: item.producer, value: isWhole ? item.value &+ origin.number : 0)
    case .cancel(let item, _):
      return item
    }
  }
}

/// A reactor with such actions, on the sender's thread.
final class CarryingReactorSubject<Action: CarryingAction>: FanInSubject {
  private final class CarryingReactor: Reactor {
    typealias Mutation = Action
    typealias State = Tally

    let initialState: Tally
    let runtime: Runtime<Action, Action, Tally>

    init(_ setup: SubjectSetup) {
      initialState = Tally(inspector: setup.inspector)
      runtime = Runtime(capacity: setup.capacity)
    }

    func reduce(into state: inout Tally, mutation: Action) { state.reduce(mutation.item) }
  }

  private let reactor: CarryingReactor

  init(_ setup: SubjectSetup) { reactor = CarryingReactor(setup) }

  func produce(producer: Int, values: Range<UInt64>) {
    let parts = Action.makeParts()
    for value in values { reactor.send(.make(Item(producer: UInt64(producer), value: value), parts)) }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try quota.awaitProducers()
    return reactor.currentState.totals
  }
}

/// The same behind `Synchronization.Mutex`: a function takes the action, and handles it under the lock.
final class CarryingMutexBaseline<Action: CarryingAction>: FanInSubject {
  private let state: Mutex<Tally>

  init(_ setup: SubjectSetup) { state = Mutex(Tally(inspector: setup.inspector)) }

  @inline(never)
  private func handle(_ action: Action) { state.withLock { $0.reduce(action.item) } }

  func produce(producer: Int, values: Range<UInt64>) {
    let parts = Action.makeParts()
    for value in values { handle(.make(Item(producer: UInt64(producer), value: value), parts)) }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try quota.awaitProducers()
    return state.withLock { $0.totals }
  }
}

/// The same in an actor: see ``ActorBaseline``.
final class CarryingActorBaseline<Action: CarryingAction>: FanInSubject {
  static var floats: Bool { true }
  static var chunk: Int { 16_384 }

  private actor Handler {
    private var tally: Tally

    init(_ tally: Tally) { self.tally = tally }

    func handle(_ action: Action) { tally.reduce(action.item) }

    var totals: Totals { tally.totals }
  }

  private let handler: Handler

  init(_ setup: SubjectSetup) { handler = Handler(Tally(inspector: setup.inspector)) }

  func produce(producer: Int, values: Range<UInt64>) {
    let handler = handler
    let done = DispatchSemaphore(value: 0)
    Task.detached {
      let parts = Action.makeParts()
      for value in values {
        await handler.handle(.make(Item(producer: UInt64(producer), value: value), parts))
        bl_opaque()
      }
      done.signal()
    }
    done.wait()
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try quota.awaitProducers()
    return Handover.blocking { [handler] in await handler.totals }
  }
}
