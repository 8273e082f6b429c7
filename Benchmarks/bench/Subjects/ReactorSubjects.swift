import Glibc
import ReactorCore
import ReactorRuntime

/// The reactor of the benchmark. It counts the items that are sent to it, and adds up their values.
final class TallyReactor: Reactor {
  typealias Action = Item

  enum Mutation: Sendable {
    case add(Item)
  }

  let initialState: Tally
  let runtime: Runtime<Item, Mutation, Tally>

  init(on placement: Placement, _ setup: SubjectSetup) {
    initialState = Tally(inspector: setup.inspector)
    runtime = Runtime(on: placement, capacity: setup.capacity)
  }

  func mutate(action: Item) -> Observable<Mutation> { .just(.add(action)) }

  func reduce(into state: inout Tally, mutation: Mutation) {
    switch mutation {
    case .add(let item): state.reduce(item)
    }
  }

  /// Returns when all is reduced that the producers send. It sleeps between two looks: the thread that waits may be confined to the
  /// CPU of the loop, which would lose every other turn on it to a thread that only yields.
  func awaitTotals(_ quota: Quota) throws -> Totals {
    try quota.awaitProducers()
    while currentState.count < quota.total {
      try quota.checkDeadline(reduced: currentState.count)
      usleep(50)
    }
    return currentState.totals
  }
}

extension SubjectSetup {
  /// A loop that waits as the consumer is to, on its CPU.
  func makeLoop() throws -> Loop {
    try Loop(waiting: consumer == .busy ? .busy : .parking, processor: consumerCPU.map(Int.init))
  }
}

/// A reactor whose senders run its turns.
final class CallerReactorSubject: FanInSubject {
  private let reactor: TallyReactor

  init(_ setup: SubjectSetup) { reactor = TallyReactor(on: .caller, setup) }

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values { reactor.send(Item(producer: UInt64(producer), value: value)) }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    // The last owner has processed everything before it released the ownership.
    try quota.awaitProducers()
    return reactor.currentState.totals
  }
}

/// A reactor on a thread of its own.
final class LoopReactorSubject: FanInSubject {
  private let loop: Loop
  private let reactor: TallyReactor

  init(_ setup: SubjectSetup) throws {
    loop = try setup.makeLoop()
    reactor = TallyReactor(on: .loop(loop), setup)
  }

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values { reactor.send(Item(producer: UInt64(producer), value: value)) }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    let totals = try reactor.awaitTotals(quota)
    loop.shutdown()
    return totals
  }

  /// Includes the wake of the shutdown.
  var sleeping: Sleeping? {
    let counters = loop.counters
    return Sleeping(parks: counters.parks, wakes: counters.wakes)
  }
}

/// A reactor on a loop as a user makes it, without a CPU of its own. No thread is confined, as with subjects on the system's pool.
final class FloatingLoopSubject: FanInSubject {
  static var floats: Bool { true }

  private let subject: LoopReactorSubject

  init(_ setup: SubjectSetup) throws { subject = try LoopReactorSubject(setup) }

  func produce(producer: Int, values: Range<UInt64>) { subject.produce(producer: producer, values: values) }

  func awaitTotals(_ quota: Quota) throws -> Totals { try subject.awaitTotals(quota) }

  var sleeping: Sleeping? { subject.sleeping }
}

/// A reactor that stores no runtime, so that each send looks it up. Actions are sent by `action`, as in ReactorKit, or by
/// `send`.
final class AttachedReactorSubject<Way: SendingWay>: FanInSubject {
  private final class AttachedReactor: ReactorKitReactor {
    typealias Action = Item
    let initialState: Tally

    init(_ inspector: Inspector?) { initialState = Tally(inspector: inspector) }

    func reduce(into state: inout Tally, mutation: Item) { state.reduce(mutation) }
  }

  private let reactor: AttachedReactor

  init(_ setup: SubjectSetup) { reactor = AttachedReactor(setup.inspector) }

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values { Way.send(Item(producer: UInt64(producer), value: value), to: reactor) }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try quota.awaitProducers()
    return reactor.currentState.totals
  }
}

/// A reactor with a stored runtime. Actions are sent by `action`.
final class ActionReactorSubject: FanInSubject {
  private let reactor: TallyReactor

  init(_ setup: SubjectSetup) { reactor = TallyReactor(on: .caller, setup) }

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values { BySubject.send(Item(producer: UInt64(producer), value: value), to: reactor) }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try quota.awaitProducers()
    return reactor.currentState.totals
  }
}

/// How an action is sent.
protocol SendingWay: Sendable {
  static func send<R: Reactor>(_ action: R.Action, to reactor: R)
}

enum Directly: SendingWay {
  @inline(__always)
  static func send<R: Reactor>(_ action: R.Action, to reactor: R) { reactor.send(action) }
}

/// As in ReactorKit.
enum BySubject: SendingWay {
  @inline(__always)
  static func send<R: Reactor>(_ action: R.Action, to reactor: R) { reactor.action.onNext(action) }
}
