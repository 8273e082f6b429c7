import ReactorCore
import ReactorRuntime
import ReactorTesting
import TestSupport

extension FuzzProperty {
  /// Reactors send to themselves and to one another, from `mutate`, `reduce` and observers, on the sender's thread
  /// and on loops. One action at a time is processed, in the order of the sends, and never nested. Mutations keep
  /// their order, each state is published once, and nothing is lost, duplicated or leaked.
  public static let reentrance = reentrance(nil)

  public static func reentrance(_ fault: ReentranceFault?) -> FuzzProperty {
    FuzzProperty("reentrance") { bytes throws(Mismatch) in
      try ReentranceRun.run(ReentranceCase(bytes), fault)
    }
  }
}

/// A few reactors, each beside its model. What must come next is known when it is sent, so the models advance with
/// the callbacks.
private final class ReentranceRun: ReentranceWitness, @unchecked Sendable {
  // Unchecked: there is only one thread.
  private let members: [ReentranceCase.Member]
  private let loops: [SteppedLoop]
  private let fault: ReentranceFault?
  private let lifetimes = Lifetimes()
  private var reactors: [ReentranceSubject] = []
  private var models: [ReentranceModel]
  private var subjects = (0..<ReentranceCase.streamCount).map { _ in PublishSubject<Int>() }
  private var observers: [[any Disposable]] = []
  /// For each reactor, the callbacks that are running, from the outermost to the innermost.
  private var callbacks: [[Deed.Moment]]
  /// For each reactor, what its observers of the state must do.
  private var observerDeeds: [[Deed]]
  private var log = FuzzLog<ReentranceOperation>()
  private var mismatch: Mismatch?
  private var lastID = 0
  private var expectedFailures = 0
  private var heldBack: [(PlannedAction, Int)] = []

  private init(_ reentranceCase: ReentranceCase, _ fault: ReentranceFault?) {
    members = reentranceCase.members
    do {
      loops = try (0..<ReentranceCase.loopCount).map { _ in
        try SteppedLoop(turnLimit: reentranceCase.turnLimit)
      }
    } catch { fatalError("\(error)") }
    self.fault = fault
    models = members.map { ReentranceModel(stateObservers: $0.stateObservers) }
    callbacks = members.map { _ in [] }
    observerDeeds = members.map { _ in [] }
  }

  static func run(_ reentranceCase: ReentranceCase, _ fault: ReentranceFault?) throws(Mismatch) {
    let run = ReentranceRun(reentranceCase, fault)
    run.makeReactors()
    defer { run.breakUp() }
    for operation in reentranceCase.operations {
      run.log.append(operation)
      run.perform(operation)
      run.compare()
      if let mismatch = run.mismatch { throw mismatch }
    }
    try run.finish()
  }

  private func makeReactors() {
    for (number, member) in members.enumerated() {
      let placement: Placement = member.loop.map { loops[$0].placement } ?? .caller
      let reactor = ReentranceSubject(number, on: placement, self, fault)
      reactors.append(reactor)
      var disposables: [any Disposable] = []
      for observer in 0..<member.stateObservers {
        // Skips the state at the subscription, which comes later on a loop.
        disposables.append(
          reactor.state.skip(1).subscribe(onNext: { [unowned self] in observes(number, $0, observer) }))
      }
      if member.isActionObserved {
        disposables.append(
          reactor.action.subscribe(onNext: { [unowned self] in observes(number, $0) }))
      }
      observers.append(disposables)
    }
    for loop in loops { loop.run() }
  }

  /// Breaks the cycle: the reactors hold this, and this holds the reactors.
  private func breakUp() {
    for disposables in observers { for observer in disposables { observer.dispose() } }
    for loop in loops { loop.run() }
    reactors = []
    subjects = []
  }

  private func check(_ body: () throws(Mismatch) -> Void) {
    if mismatch != nil { return }
    do throws(Mismatch) { try body() } catch { mismatch = error }
  }

  private func perform(_ operation: ReentranceOperation) {
    switch operation {
    case .errand(let errand): perform(errand)
    case .step(let loop): loops[loop].step()
    }
  }

  /// Does something inside a callback of a reactor.
  private func run(_ deeds: [Deed], in reactor: Int, _ moment: Deed.Moment) {
    callbacks[reactor].append(moment)
    for deed in deeds where deed.moment == moment { perform(deed.errand) }
    releaseHeldBack()
    callbacks[reactor].removeLast()
  }

  // MARK: Errands

  private func perform(_ errand: Errand) {
    switch errand {
    case .send(let plan, let reactor, let way): send(plan, to: reactor, way)
    case .emit(let number):
      lastID += 1
      let element = lastID
      for index in models.indices { models[index].emit(element, on: number) }
      subjects[number].onNext(element)
    case .dispose(let reactor, let observer):
      models[reactor].dispose(observer: observer)
      if observer < members[reactor].stateObservers { observers[reactor][observer].dispose() }
    }
  }

  private func send(_ plan: Plan, to number: Int, _ way: Errand.Way) {
    lastID += 1
    let action = PlannedAction(id: lastID, plan: plan, payload: lifetimes.track(lastID))
    models[number].send(action.id)
    let isRunHere = !callbacks[number].isEmpty
    if isRunHere, isHeldBack(action, number) { return }
    deliver(action, number, way)
    check { () throws(Mismatch) in
      if isRunHere || members[number].loop != nil {
        try log.expect(models[number].actions.last, is: action.id, "the last of the actions that wait")
      } else {
        try log.expect(models[number].actions, is: [], "what waits after a send to an idle reactor")
        try expectState(number, "after a send that returned")
      }
    }
  }

  private func deliver(_ action: PlannedAction, _ number: Int, _ way: Errand.Way) {
    switch way {
    case .send: reactors[number].send(action)
    case .onNext: reactors[number].action.onNext(action)
    case .trySend:
      do throws(SendError) { try reactors[number].trySend(action) } catch {
        check { () throws(Mismatch) in throw log.mismatch("trySend has thrown: \(error).") }
      }
    }
  }

  // MARK: Faults

  private func isHeldBack(_ action: PlannedAction, _ number: Int) -> Bool {
    switch fault {
    case .turnsNestedSendsAround: heldBack.insert((action, number), at: 0)
    case .losesNestedSends: break
    case .doublesNestedSends:
      deliver(action, number, .send)
      deliver(action, number, .send)
    case .recurses:
      let mutations = reactors[number].mutate(action: action)
      _ = mutations.subscribe()
    default: return false
    }
    return true
  }

  private func releaseHeldBack() {
    let actions = heldBack
    heldBack = []
    for (action, number) in actions { deliver(action, number, .send) }
  }

  // MARK: Callbacks

  private func observes(_ number: Int, _ action: PlannedAction) {
    check { () throws(Mismatch) in
      try log.expect(callbacks[number].isEmpty, "action \(action.id) is observed inside of another callback.")
      try log.expect(models[number].actions.first, is: action.id, "the action whose turn it is")
    }
    run(action.plan.deeds, in: number, .observingAction)
  }

  func mutates(_ number: Int, _ action: PlannedAction) -> Observable<PlannedMutation> {
    check { () throws(Mismatch) in
      try log.expect(callbacks[number].isEmpty, "mutate is called inside of another callback.")
      try log.expect(models[number].begin(), is: action.id, "the action whose turn it is (not \(action.id))")
    }
    run(action.plan.deeds, in: number, .mutating)
    return answer(of: number, to: action)
  }

  private func answer(of number: Int, to action: PlannedAction) -> Observable<PlannedMutation> {
    switch action.plan.answer {
    case .known(let count):
      let ids = (0..<count).map { lastID + 1 + $0 }
      lastID += count
      models[number].answer(ids)
      let mutations = ids.map { id in
        PlannedMutation(id: id, deeds: id == ids[0] ? action.plan.deeds : [], payload: lifetimes.track(id))
      }
      return mutations.count == 1 ? .just(mutations[0]) : .from(mutations)
    case .stream(let stream, let count):
      models[number].answerStream(action.id, stream, count: count)
      return subjects[stream].take(count).map { [lifetimes] element in
        PlannedMutation(
          id: element, stream: action.id, deeds: action.plan.deeds, payload: lifetimes.track(element))
      }
    case .error:
      expectedFailures += 1
      return .error(TestFailure())
    }
  }

  func reduces(_ number: Int, _ state: Digest, _ mutation: PlannedMutation) {
    check { () throws(Mismatch) in
      let running = callbacks[number]
      try log.expect(
        !running.contains(.reducing) && !running.contains(.observingState),
        "mutation \(mutation.id) is reduced inside of reduce, or of an observer of the state.")
      try log.expect(
        models[number].reduce(of: mutation.stream), is: mutation.id, "the mutation (not \(mutation.id))")
      try log.expect(state, is: models[number].state, "the state that reduce was given")
    }
    models[number].note(mutation.id)
    observerDeeds[number] = mutation.deeds
  }

  func reduced(_ number: Int, _ mutation: PlannedMutation) { run(mutation.deeds, in: number, .reducing) }

  private func observes(_ number: Int, _ state: Digest, _ observer: Int) {
    check { () throws(Mismatch) in
      try log.expect(
        models[number].observe(), is: observer, "the observer of the state that is told (not \(observer))")
      try log.expect(state, is: models[number].state, "the state that observer \(observer) was told")
      try expectState(number, "inside of an observer")
    }
    let deeds = observerDeeds[number]
    observerDeeds[number] = []
    run(deeds, in: number, .observingState)
  }

  func fails(_ reactor: Int, _ failure: Failure) {
    expectedFailures -= 1
    guard case .mutate = failure.cause else {
      return check { () throws(Mismatch) in throw log.mismatch("reported: \(failure).") }
    }
  }

  // MARK: Looking

  private func expectState(_ number: Int, _ moment: String) throws(Mismatch) {
    let state = fault == .isSlowToShow ? Digest() : reactors[number].currentState
    try log.expect(state, is: models[number].state, "the state of reactor \(number) \(moment)")
  }

  private func compare() {
    check { () throws(Mismatch) in
      for (number, member) in members.enumerated() where member.loop == nil {
        try log.expect(models[number].isAtRest, "reactor \(number) has left something: \(models[number]).")
        try expectState(number, "outside of turns")
      }
      try log.expect(expectedFailures, is: 0, "the number of failures that are yet to be reported")
    }
  }

  private func finish() throws(Mismatch) {
    // Several times, since one reactor sends to the other.
    for _ in 0..<1000 where loops.reduce(0, { $0 + $1.step() }) == 0 { break }
    compare()
    for number in models.indices {
      check { () throws(Mismatch) in
        try log.expect(models[number].isAtRest, "reactor \(number) has left something: \(models[number]).")
        try expectState(number, "in the end")
      }
    }
    check { () throws(Mismatch) in
      let running = models.reduce(0) { $0 + $1.runningStreamCount }
      try log.expect(lifetimes.alive, is: running, "the number of living actions and mutations")
      for subject in subjects { subject.onCompleted() }
      try log.expect(lifetimes.alive, is: 0, "the number of actions that live longer than their streams")
    }
    if let mismatch { throw mismatch }
  }
}
