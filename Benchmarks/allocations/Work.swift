import AllocationCounting
import ReactorCore
import ReactorRuntime
import TestSupport

/// What is measured. Tests/AllocationTests has the same names, and how much each may allocate.
enum Work: String {
  /// The control: exactly one object for each action, which must be counted.
  case oneObjectPerAction
  case ringSingle, ringBatch, lane
  case callerSynchronous, callerFanIn, loopFanIn, hosted, reading, reentrant
  case empty, just, ofTwo, ofThree, ofFour
  /// One array.
  case from, concatOfKnown
  /// An action with a string, an array and an object, which is a mutation.
  case passedOn
  case observedOnce, observedFourTimes, observedDistinct, byAction, transformed, attached
  case askedByTask, askedWithCompletion
  /// As `callerSynchronous` and `hosted`, in a process that has a journal and a durable reactor.
  case callerBesideJournal, hostedBesideJournal
  /// These measure bytes for each reactor, besides its object, in place of allocations: of a new one, of one that has had
  /// actions, and of one that was closed then.
  case newOnCaller, newOnLoop, usedOnCaller, usedOnLoop, closedOnCaller

  func allocationsPerAction(countedBy counter: AllocationCounter) throws -> Double {
    if let bytes = try bytesPerReactor() { return bytes }
    let run = try prepare()
    try run(2_000)
    let actions = 200_000
    let before = counter.begin()
    try run(actions)
    return Double(counter.count(since: before)) / Double(actions)
  }

  /// Carries out so many actions, after some that warm up.
  func run(_ actions: Int) throws {
    let run = try prepare()
    try run(2_000)
    try run(actions)
  }

  typealias Run = (_ actions: Int) throws -> Void

  private func prepare() throws -> Run {
    switch self {
    case .oneObjectPerAction: try Self.objects()
    case .ringSingle: try Self.ring(batch: 1)
    case .ringBatch: try Self.ring(batch: 16)
    case .lane: try Self.lane()
    case .callerFanIn: Self.fanIn(on: Placement.caller)
    case .loopFanIn: Self.fanIn(on: .loop(try Loop()))
    case .hosted: try Self.hosted()
    case .reading: Self.reading()
    case .reentrant: Self.reentrant()
    case .callerSynchronous, .just: Self.synchronous(each: 1) { .just($0) }
    case .empty: Self.synchronous(each: 0) { _ in .empty() }
    case .ofTwo: Self.synchronous(each: 2) { .of($0, 1) }
    case .ofThree: Self.synchronous(each: 3) { .of($0, 1, 2) }
    case .ofFour: Self.synchronous(each: 4) { .of($0, 1, 2, 3) }
    case .from: Self.synchronous(each: 5) { .from([$0, 1, 2, 3, 4]) }
    case .concatOfKnown: Self.synchronous(each: 3) { .concat([.just($0), .just(1), .just(2)]) }
    case .passedOn: Self.passedOn()
    case .observedOnce:
      Self.observed { reactor, seen in
        [reactor.state.subscribe(onNext: { _ in seen.states.value += 1 })]
      }
    case .observedFourTimes:
      Self.observed { reactor, seen in
        (0..<4).map { _ in reactor.state.subscribe(onNext: { _ in seen.states.value += 1 }) }
      }
    case .observedDistinct:
      Self.observed { reactor, seen in
        [
          reactor.state.map(\.count).distinctUntilChanged()
            .subscribe(onNext: { _ in seen.states.value += 1 })
        ]
      }
    case .byAction: Self.byAction()
    case .transformed: Self.transformed()
    case .attached: Self.attached()
    case .askedByTask: Self.askedByTask()
    case .askedWithCompletion: Self.askedWithCompletion()
    case .callerBesideJournal: try Self.besideJournal(Self.synchronous(each: 1) { .just($0) })
    case .hostedBesideJournal: try Self.besideJournal(try Self.hosted())
    case .newOnCaller, .newOnLoop, .usedOnCaller, .usedOnLoop, .closedOnCaller:
      fatalError("\(self) is measured in bytes")
    }
  }

  struct Loss: Error {}

  private static func objects() throws -> Run {
    let lifetimes = Lifetimes()
    let ring = Shared(try Ring<LifetimeTracked>(capacity: 16))
    return { actions in
      var sum = 0
      for index in 0..<actions {
        guard ring.value.trySend(lifetimes.track(index)).isAccepted else { throw Loss() }
        _ = ring.value.drain { (element: consuming LifetimeTracked) in sum &+= element.value }
      }
      if sum != actions * (actions - 1) / 2 { throw Loss() }
    }
  }

  private static func ring(batch: Int) throws -> Run {
    let ring = Shared(try Ring<Int>(capacity: 64))
    return { actions in
      var received = 0
      for _ in 0..<actions / batch {
        if batch == 1 {
          guard ring.value.trySend(1).isAccepted else { throw Loss() }
        } else {
          guard ring.value.trySend(count: batch, { $0 }) == .accepted else { throw Loss() }
        }
        received += ring.value.drain { (_: consuming Int) in }
      }
      if received != actions { throw Loss() }
    }
  }

  private static func lane() throws -> Run {
    let lanes = try Lanes<Int>(limit: 2, capacity: 64)
    return { actions in
      var producer = try lanes.register()
      var received = 0
      for index in 0..<actions {
        guard producer.trySend(index).isAccepted else { throw Loss() }
        received += lanes.drain { _ in }
      }
      if received != actions { throw Loss() }
    }
  }

  /// With `each` mutations for each action.
  static func synchronous(
    each: Int, _ stream: @escaping @Sendable (Int) -> Observable<Int>
  ) -> Run {
    let reactor = Summing(on: .caller, stream: stream)
    return { actions in
      let before = reactor.currentState.count
      for _ in 0..<actions { reactor.send(1) }
      if reactor.currentState.count - before != each * actions { throw Loss() }
    }
  }

  /// What the actions refer to is there before. So an action retains and releases it once, unless something copies the action.
  private static func passedOn() -> Run {
    let reactor = PassingOn()
    let action = PassingOn.Action(
      name: "a string that has memory of its own", amounts: [1], lifetime: Lifetimes().track(1))
    return { actions in
      let before = reactor.currentState
      for _ in 0..<actions { reactor.send(action) }
      if reactor.currentState - before != actions { throw Loss() }
    }
  }

  /// Sends to a loop, whose rounds run on this thread: one for up to 50 actions.
  static func hosted() throws -> Run {
    let hosted = try HostedLoop()
    let reactor = Summing(on: hosted.placement)
    return { actions in
      let before = reactor.currentState.sum
      for _ in 0..<actions / 50 {
        for _ in 0..<50 { reactor.send(1) }
        _ = hosted.run()
      }
      if reactor.currentState.sum - before != actions { throw Loss() }
    }
  }

  /// Each action is a read of a state that does not change.
  private static func reading() -> Run {
    let reactor = Summing(on: .caller)
    reactor.send(1)
    return { actions in
      var sum = 0
      for _ in 0..<actions { sum &+= reactor.currentState.sum }
      if sum != actions { throw Loss() }
    }
  }

  private static func reentrant() -> Run {
    let reactor = Summing(on: .caller)
    return { actions in
      let before = reactor.currentState.sum
      for _ in 0..<actions / 100 { reactor.send(-100) }
      if reactor.currentState.sum - before != actions { throw Loss() }
    }
  }

  private static func fanIn(on placement: Placement) -> Run {
    let reactor = Summing(on: placement)
    return { actions in
      let before = reactor.currentState.sum
      guard
        Threads.run(
          4,
          { _ in
            for _ in 0..<actions / 4 { reactor.send(1) }
            AllocationCounter.flushThreadCache()
          }),
        Threads.yield(until: { reactor.currentState.sum - before == actions })
      else { throw Loss() }
    }
  }
}
