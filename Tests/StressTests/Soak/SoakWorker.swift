import ReactorCore
import ReactorRuntime
import TestSupport

/// One thread of the soak. It does one random thing after the other.
struct SoakWorker {
  let board: SoakBoard
  private let number: Int
  private var disturbance: Disturbance
  private var generator: SplitMix64
  private var sent = 0
  private var subscriptions: [any Disposable] = []
  private var tasks: [Task<Void, Never>] = []

  init(_ board: SoakBoard, _ generator: SplitMix64) {
    self.board = board
    self.generator = generator
    number = board.number()
    disturbance = Disturbance(SplitMix64(seed: SplitMix64.mixed(self.generator.next())))
  }

  mutating func run(steps: Int) {
    for _ in 0..<steps {
      disturbance.step()
      step()
    }
    for subscription in subscriptions where generator.happens(onceIn: 2) { subscription.dispose() }
    for task in tasks where generator.happens(onceIn: 2) { task.cancel() }
  }

  private mutating func step() {
    guard let reactor = board.pick(&generator) else { return }
    switch generator.below(64) {
    case 0..<24: send(to: reactor)
    case 24..<30: for _ in 0..<generator.below(40) { send(to: reactor) }
    case 30..<36: subscribe(to: reactor)
    case 36..<40: disposeOfOne()
    case 40..<48: read(reactor)
    case 48..<51: post()
    case 51..<58: suspend(reactor)
    case 58..<60: cancelOne()
    case 60: close(reactor)
    default: replaceOne()
    }
  }

  private mutating func send(to reactor: SoakedReactor) {
    sent += 1
    let order: Parcel.Order =
      switch generator.below(200) {
      case 0: .close(.drain)
      case 1: .close(.discard)
      case 2..<20: .echo
      default: .reduce
      }
    let hops = generator.happens(onceIn: 4) ? generator.below(4) : 0
    Sending.random(&generator).send(
      Parcel(from: number, sent, order, hops: hops, by: board.tally), to: reactor)
  }

  private mutating func subscribe(to reactor: SoakedReactor) {
    let token = board.observers.track()
    if generator.happens(onceIn: 4) {
      subscriptions.append(reactor.action.subscribe(onNext: { _ in withExtendedLifetime(token) {} }))
    } else {
      let watch = StateWatch(board.tally)
      subscriptions.append(
        reactor.state.subscribe(onNext: { state in
          withExtendedLifetime(token) { watch.see(state.reduced, isWhole: state.isWhole) }
        }))
    }
    // This subscription is not disposed of; it ends with its reactor.
    if generator.happens(onceIn: 8) { subscriptions.removeLast() }
  }

  private mutating func disposeOfOne() {
    guard !subscriptions.isEmpty else { return }
    subscriptions.remove(at: generator.below(subscriptions.count)).dispose()
  }

  private mutating func read(_ reactor: SoakedReactor) {
    let watch = StateWatch(board.tally)
    for _ in 0..<generator.below(8) {
      if generator.happens(onceIn: 2) {
        let state = reactor.currentState
        watch.see(state.reduced, isWhole: state.isWhole)
      } else {
        reactor.withCurrentState { watch.see($0.reduced, isWhole: $0.isWhole) }
      }
    }
    let counters = reactor.counters
    if counters.waiting < 0 || counters.processed < 0 { board.tally.torn.add(1, ordering: .relaxed) }
  }

  /// A job or a timer of a loop, which sends.
  private mutating func post() {
    let (board, number, loop) = (board, board.number(), board.pickLoop(&generator))
    let seed = generator.next()
    let job: @Sendable () -> Void = {
      var generator = SplitMix64(seed: seed)
      for index in 0..<4 {
        guard let reactor = board.pick(&generator) else { return }
        Sending.random(&generator).send(Parcel(from: number, index, by: board.tally), to: reactor)
      }
    }
    if generator.happens(onceIn: 2) {
      try? loop.execute(job)
    } else {
      let timer = try? loop.schedule(after: .microseconds(generator.below(2000)), job)
      if generator.happens(onceIn: 4) { timer?.dispose() }
    }
  }

  private mutating func suspend(_ reactor: SoakedReactor) {
    let (board, number) = (board, board.number())
    let seed = generator.next()
    board.tasks.add(1, ordering: .relaxed)
    let task = Task.detached {
      var generator = SplitMix64(seed: seed)
      for index in 0..<generator.below(8) {
        let parcel = Parcel(from: number, index, by: board.tally)
        let deadline =
          generator.happens(onceIn: 2) ? nil : ContinuousClock.now + .microseconds(generator.below(2000))
        do throws(SendError) {
          try await reactor.sendSuspending(parcel, before: deadline)
        } catch {
          parcel.noteRefused(error)
        }
      }
      board.tasks.subtract(1, ordering: .releasing)
    }
    if generator.happens(onceIn: 2) { tasks.append(task) }
  }

  private mutating func cancelOne() {
    guard !tasks.isEmpty else { return }
    tasks.remove(at: generator.below(tasks.count)).cancel()
  }

  private mutating func close(_ reactor: SoakedReactor) {
    reactor.close(generator.happens(onceIn: 2) ? .drain : .discard)
    if generator.happens(onceIn: 2), !reactor.waitUntilEnded(before: .now + .seconds(40)) {
      board.tally.unended.add(1, ordering: .relaxed)
    }
  }

  private mutating func replaceOne() {
    guard let old = board.replace(&generator) else { return }
    // Otherwise it is destroyed as it is, with the actions that wait in it.
    if generator.happens(onceIn: 2) { close(old) }
  }
}

/// Checks that states are whole, and that none is older than the previous one.
private final class StateWatch: Sendable {
  private let tally: ParcelTally
  private let last = OwnerIsolated(0)

  init(_ tally: ParcelTally) { self.tally = tally }

  /// One thread at a time.
  func see(_ reduced: Int, isWhole: Bool) {
    if !isWhole || reduced < last.value { tally.torn.add(1, ordering: .relaxed) }
    last.value = reduced
  }
}
