import ReactorCore
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

extension StressTests {
  /// A reactor drops the last reference to itself in `mutate`, while other threads turn weak references into strong ones
  /// and send. Then the reactor is gone, or it has reduced everything.
  @Suite struct WeakSenderStress {
    @Test(arguments: Place.allCases)
    func `a reactor that one thread drops and another one keeps reduces what both send`(place: Place) {
      Scenario.announce("weak senders, \(place)")
      Scenario("weak senders, \(place)").run(withinSeconds: 120) { scenario in
        let lifetimes = Lifetimes()
        let site = place.makeSite()
        run(scenario, on: site.placement, lifetimes, waves: StressMode.rounds(place == .caller ? 400 : 20))
        site.end()
        // The last reference may be that of a task that has just ended.
        #expect(Threads.yield { lifetimes.alive == 0 }, "\(scenario): \(lifetimes.alive) alive")
      }
    }

    /// In each wave all threads go through the same reactors in the same order, so that they meet again and again.
    /// Thread 0 sends each reactor the action that drops it; the others have weak references.
    private func run(_ scenario: Scenario, on placement: Placement, _ lifetimes: Lifetimes, waves: Int) {
      let threads = 3
      let line = Shared(StartingLine(threads: threads))
      let board = Guarded<[WeakRound]>([])
      let crew = Crew(of: threads) { thread -> String? in
        var generator = scenario.generator(thread)
        for number in 0..<waves {
          if thread == 0 {
            // In half of them a sender finds the mailbox full as soon as another one's action waits.
            let rounds = (0..<100).map { WeakRound(on: placement, capacity: $0 % 2 == 0 ? 64 : 1, lifetimes) }
            board.with { $0 = rounds }
          }
          line.value.meet()
          let complaint = send(thread, to: board.with { $0 }, &generator) { line.value.meet() }
          if complaint != nil { line.value.giveUp() }
          line.value.meet()
          if line.value.isGivenUp { return complaint.map { "wave \(number), \($0)" } }
        }
        return nil
      }
      for complaint in crew.join().compactMap({ $0 }) { Issue.record("\(scenario): \(complaint)") }
    }

    /// Sends to each reactor of a wave, waits until the other threads have done so, too, and returns what is wrong with
    /// those that this thread has kept.
    private func send(
      _ thread: Int, to rounds: [WeakRound], _ generator: inout SplitMix64, thenWait: () -> Void
    ) -> String? {
      var kept: [(round: WeakRound, reactor: Dropped, way: WeakRound.Way)] = []
      for round in rounds {
        if thread == 0 {
          CurrentCore.pause(times: generator.below(200))
          round.sendDropping()
        } else {
          let way = WeakRound.Way.random(&generator)
          if let reactor = round.send(thread, way, after: generator.below(32)) {
            kept.append((round, reactor, way))
          }
        }
      }
      thenWait()
      for (round, reactor, way) in kept {
        if let complaint = round.complaint(of: reactor, thread, way) { return complaint }
      }
      return nil
    }
  }
}

/// One reactor, and those that send to it.
private final class WeakRound: Sendable {
  /// What a thread does with the reactor that its weak reference still finds.
  enum Way: CaseIterable {
    case send, sendContents, sendCapturing, trySend, sendBefore, sendSuspending, suspendingBefore,
      cancelledTask,
      whenRoom, ask, askSuspending, onNext, subscribe, close
    /// By the weak reference of `action` alone: the reactor may be gone.
    case weakly

    static func random(_ generator: inout SplitMix64) -> Way {
      // A reactor that is closed refuses the actions of the other threads, so not too often.
      let way = allCases[generator.below(allCases.count)]
      return way == .close && !generator.happens(onceIn: 4) ? .send : way
    }
  }

  @TaskLocal private static var local = 0

  private let holder = Guarded<Dropped?>(nil)
  private let weakly: WeakDropped
  private let action: ActionSubject<Dropped.Action>
  private let isDropped = Atomic(false)
  /// One bit for each action that was refused.
  private let refused = Atomic(0)
  private let isObserved = Atomic(false)
  /// One bit for each of these for which there is a good reason.
  private let excused = Atomic(0)
  /// One bit for each request that is over.
  private let asked = Atomic(0)

  init(on placement: Placement, capacity: Int, _ lifetimes: Lifetimes) {
    let reactor = Dropped(on: placement, capacity: capacity, lifetimes.track())
    weakly = WeakDropped(reactor)
    action = reactor.action
    reactor.round.round = self
    holder.with { $0 = reactor }
  }

  func drop() {
    let last = holder.with { $0.take() }
    _ = consume last
    isDropped.store(true, ordering: .sequentiallyConsistent)
  }

  func noteRefused(_ action: Int) { refused.bitwiseOr(1 << action, ordering: .sequentiallyConsistent) }

  /// An open reactor may refuse an action because its mailbox is full, or because the task was cancelled.
  private func noteRefused(_ action: Int, _ error: SendError) {
    if error == .full || error == .cancelled {
      excused.bitwiseOr(1 << action, ordering: .sequentiallyConsistent)
    }
    noteRefused(action)
  }

  func sendDropping() { action.onNext(Dropped.Action(number: 0)) }

  /// Waits until the reactor has dropped its last reference, and then a little.
  func send(_ number: Int, _ way: Way, after pauses: Int) -> Dropped? {
    var looks = 0
    while !isDropped.load(ordering: .sequentiallyConsistent) {
      looks += 1
      if looks % 256 == 0 { DedicatedThread.yield() } else { CurrentCore.pause() }
    }
    CurrentCore.pause(times: pauses)
    let sent = Dropped.Action(number: number)
    if way == .weakly {
      action.onNext(sent)
      return nil
    }
    guard let reactor = weakly.reactor else { return nil }
    do throws(SendError) {
      switch way {
      case .send: reactor.send(sent)
      case .sendContents: reactor.send(contentsOf: [sent])
      case .sendCapturing: reactor.send(sent, capturing: Self.$local)
      case .trySend: try reactor.trySend(sent)
      case .sendBefore: try reactor.send(sent, before: .now + .seconds(StressMode.patience))
      case .sendSuspending: run { () async throws(SendError) in try await reactor.sendSuspending(sent) }
      case .suspendingBefore:
        run { () async throws(SendError) in
          try await reactor.sendSuspending(sent, before: .now + .seconds(StressMode.patience))
        }
      case .whenRoom:
        reactor.whenRoom { [self] in
          do throws(SendError) { try reactor.trySend(sent) } catch { noteRefused(number, error) }
        }
      case .cancelledTask:
        run(isCancelled: true) { () async throws(SendError) in try await reactor.sendSuspending(sent) }
      case .ask:
        reactor.ask {
          Dropped.Action(number: number, reply: $0)
        } completion: { [self] in
          noteReply($0, number)
        }
      case .askSuspending:
        run { [self] in
          do throws(AskError) {
            noteReply(.success(try await reactor.ask { Dropped.Action(number: number, reply: $0) }), number)
          } catch {
            noteReply(.failure(error), number)
          }
        }
      case .onNext: action.onNext(sent)
      case .weakly: break
      case .subscribe:
        reactor.state.subscribe(onNext: { [self] _ in
          isObserved.store(true, ordering: .sequentiallyConsistent)
        })
      case .close: reactor.close()
      }
    } catch { noteRefused(number, error) }
    return reactor

    /// Runs it as a task, and waits for it.
    func run(isCancelled: Bool = false, _ body: @escaping @Sendable () async throws(SendError) -> Void) {
      let isDone = Gate()
      let task = Task.detached { [self] in
        do throws(SendError) { try await body() } catch { noteRefused(number, error) }
        isDone.open()
      }
      if isCancelled { task.cancel() }
      _ = isDone.wait()
    }
  }

  private func noteReply(_ result: Result<Int, AskError>, _ number: Int) {
    switch result {
    case .success: break
    case .failure(.closed), .failure(.dropped): noteRefused(number)
    case .failure(let error): Issue.record("a request failed: \(error)")
    }
    asked.bitwiseOr(1 << number, ordering: .sequentiallyConsistent)
  }

  /// Returns what is wrong with a reactor that a thread has kept. All threads have sent by now.
  func complaint(of reactor: Dropped, _ number: Int, _ way: Way) -> String? {
    let isDone =
      switch way {
      case .close: reactor.waitUntilEnded(before: .now + .seconds(StressMode.patience))
      case .subscribe: wait { isObserved.load(ordering: .sequentiallyConsistent) }
      case .ask, .askSuspending:
        wait { asked.load(ordering: .sequentiallyConsistent) & 1 << number != 0 && isOver(number, reactor) }
      default: wait { isOver(number, reactor) }
      }
    if !isDone { return "thread \(number), \(way): not done although the reactor is there" }
    if !wait(until: { isOver(0, reactor) }) {
      return "thread \(number), \(way): the first action is not reduced"
    }
    let closed = reactor.isClosed
    let unexcused =
      refused.load(ordering: .sequentiallyConsistent) & ~excused.load(ordering: .sequentiallyConsistent)
    return unexcused == 0 || closed ? nil : "an open reactor has refused \(unexcused)"
  }

  private func isOver(_ number: Int, _ reactor: Dropped) -> Bool {
    let bits = reactor.currentState | refused.load(ordering: .sequentiallyConsistent)
    return bits & 1 << number != 0
  }

  private func wait(until condition: () -> Bool) -> Bool {
    let deadline = ContinuousClock.now + .seconds(StressMode.patience)
    while !condition() {
      if .now > deadline { return false }
      DedicatedThread.yield()
    }
    return true
  }
}

/// A weak reference to a round's reactor.
private final class WeakDropped: @unchecked Sendable {
  // Unchecked: it is written once, before other threads have it, and loading a weak reference is atomic.
  private(set) weak var reactor: Dropped?

  init(_ reactor: Dropped) { self.reactor = reactor }
}

/// A weak reference to the round of a reactor, which the round refers to.
private final class WeakRoundReference: @unchecked Sendable {
  // Unchecked: as above.
  weak var round: WeakRound?
}

/// A reactor that drops its last reference when it gets action 0. Its state has one bit for each action.
private final class Dropped: Reactor {
  struct Action: Sendable {
    let number: Int
    var reply: Reply<Int>?
  }
  typealias Mutation = Action

  let initialState = 0
  let runtime: Runtime<Action, Action, Int>
  let round: WeakRoundReference
  private let tracked: LifetimeTracked

  init(on placement: Placement, capacity: Int, _ tracked: LifetimeTracked) {
    let round = WeakRoundReference()
    self.round = round
    self.tracked = tracked
    runtime = Runtime(
      on: placement, capacity: capacity,
      onFailure: { failure in
        if let action = failure.action as? Action { round.round?.noteRefused(action.number) }
      })
  }

  func mutate(action: Action) -> Observable<Action> {
    if action.number == 0 { round.round?.drop() }
    return .just(action)
  }

  func reduce(into state: inout Int, mutation: Action) {
    state |= 1 << mutation.number
    mutation.reply?(state)
  }
}
