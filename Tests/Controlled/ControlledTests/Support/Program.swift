import ReactorCore

@testable import ReactorRuntime

/// What a thread of a program does to the reactor.
enum Operation: String, CaseIterable, Sendable {
  case send, sendWeakly, trySend, sendBefore, sendSuspending, subscribe, dispose, drain, discard, shutdown,
    drop, read
  case stub
}

/// Threads that use one reactor, each with a list of operations.
struct Program: Sendable, CustomStringConvertible {
  let threads: [[Operation]]
  let place: Place
  let policy: OverflowPolicy
  let snapshots: SnapshotPolicy
  /// Whether an observer has the state from the beginning. Without one, actions take another path.
  let isObserved: Bool

  /// - Parameter variant: Which of the combinations of the other three.
  init(threads: [[Operation]], place: Place, variant: Int) {
    self.threads = threads
    self.place = place
    policy = Self.policies[variant % 4]
    isObserved = variant / 4 % 2 == 0
    snapshots = Self.snapshots[variant / 8 % 3]
  }

  private static let policies: [OverflowPolicy] = [.block, .fail, .dropNewest, .dropOldest]
  private static let snapshots: [SnapshotPolicy] = [.onDemand, .copied, .replayed]
  static let variants = 24

  var description: String {
    let texts = threads.map { operations in operations.map(\.rawValue).joined(separator: " ") }
    let observed = isObserved ? "observed" : "not observed"
    return texts.joined(separator: " beside ") + ", \(place), \(policy), \(snapshots), \(observed)"
  }

  /// How many actions may wait beside the one in `mutate`: the capacity is 1, and with `.dropOldest` twice as many are beside
  /// the ring. Nil where actions go elsewhere than through the mailbox.
  private var mostWaiting: Int? {
    if threads.joined().contains(where: { [.stub, .drop].contains($0) }) { return nil }
    return policy == .dropOldest ? 3 : 1
  }

  /// Runs the threads, and checks what holds for every program.
  func run() {
    let ledger = Ledger(mostWaiting: mostWaiting)
    let tasks = threads.joined().contains(.sendSuspending) ? Tasks() : nil
    place.use { placement in
      let stage = Stage(ledger, on: placement, self, tasks)
      let workers = threads.enumerated().map { number, operations in
        Worker("thread-\(number)") {
          for (index, operation) in operations.enumerated() {
            stage.perform(operation, id: number * 100 + index * 10)
          }
        }
      }
      for worker in workers { worker.join() }
      stage.finish()
    }
    tasks?.finish()
    ledger.verify()
  }
}

/// The reactor of a program, and what its threads share.
final class Stage: @unchecked Sendable {
  // Unchecked: one thread runs at a time, and what several threads change is changed without a point in between.
  private let ledger: Ledger
  private let loop: Loop?
  private let action: ActionSubject<Parcel>
  private let tasks: Tasks?
  /// The last reference, but for those that operations hold while they run.
  private var subject: Subject?
  private var isClosed = false
  private var observers: [any Disposable] = []

  init(_ ledger: Ledger, on placement: Placement, _ program: Program, _ tasks: Tasks?) {
    self.ledger = ledger
    self.tasks = tasks
    if case .loop(let loop) = placement { self.loop = loop } else { loop = nil }
    let subject = Subject(
      ledger, on: placement, snapshots: program.snapshots, capacity: 1, overflow: program.policy)
    self.subject = subject
    action = subject.action
    if program.isObserved { subscribe(to: subject) }
  }

  /// The observer holds the reactor, and gets each state once, in order.
  private func subscribe(to subject: Subject) {
    ledger.noteStep()
    nonisolated(unsafe) var last: Int?
    let observer = subject.state.subscribe(onNext: { [ledger] state in
      withExtendedLifetime(subject) {}
      // The state of a stub is that of the moment at which it was made.
      if let last, !ledger.isStubbed {
        check(state.count == last + 1, "state \(state.count) came after \(last)")
      }
      last = state.count
    })
    observers.append(observer)
  }

  func perform(_ operation: Operation, id: Int) {
    let subject = subject
    switch operation {
    case .send: if let subject { ledger.send(id) { subject.send($0) } }
    case .sendWeakly: ledger.send(id, isWeak: true) { action.onNext($0) }
    case .trySend:
      if let subject { ledger.send(id) { parcel throws(SendError) in try subject.trySend(parcel) } }
    case .sendBefore:
      if let subject {
        ledger.send(id, within: .seconds(1)) { parcel, deadline throws(SendError) in
          try subject.send(parcel, before: deadline)
        }
      }
    case .sendSuspending:
      if let subject, let tasks {
        let task = tasks.start { [ledger] in
          await ledger.send(id) { parcel async throws(SendError) in try await subject.sendSuspending(parcel) }
        }
        ledger.willCancel(id)
        task.cancel()
        task.join()
      }
    case .subscribe: if let subject { subscribe(to: subject) }
    case .dispose:
      ledger.noteStep()
      observers.popLast()?.dispose()
    case .drain, .discard:
      isClosed = true
      ledger.willClose()
      subject?.close(operation == .drain ? .drain : .discard)
      if subject != nil { ledger.hasClosed() }
      if operation == .discard, subject != nil { ledger.hasDiscarded() }
    case .shutdown:
      ledger.willClose()
      loop?.shutdown()
      // Otherwise a reactor that waits for its turn accepts actions until that begins.
      if loop?.state.hasEnded == true { ledger.hasClosed() }
    case .drop:
      ledger.willClose()
      self.subject = nil
      while let observer = observers.popLast() { observer.dispose() }
    case .read:
      for _ in 0..<2 { subject?.withCurrentState { $0.check() } }
    case .stub:
      ledger.isStubbed = true
      ledger.noteStep()
      subject?.isStubEnabled = true
      subject?.isStubEnabled = false
    }
  }

  /// After all threads have ended.
  func finish() {
    // Before anything is closed, which would wake a loop that sleeps although it must not.
    awaitRest()
    ledger.verifyAtRest()
    if let subject {
      if isClosed {
        check(subject.waitUntilEnded(before: .now + .seconds(60)), "the reactor has not ended")
        ledger.hasEnded()
      }
      // A reactor that has ended keeps its last state.
      let count = subject.currentState.count
      check(
        ledger.isStubbed || count == ledger.reduced.count,
        "\(count) of \(ledger.reduced.count) mutations are in the state")
      if ledger.isStubbed {
        ledger.noteStubbed(subject.stub.actions.map(\.id))
      }
    }
    ledger.willClose()
    subject = nil
    while let observer = observers.popLast() { observer.dispose() }
  }
}
