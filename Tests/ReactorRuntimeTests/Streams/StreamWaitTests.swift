import Glibc
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

/// Threads that wait until another thread has passed on the elements of a stream, and that keep that thread waiting in another way.
@Suite struct StreamWaitTests {
  /// More than a subject keeps before a thread that brings an element waits.
  private static let many = 1_100

  private static func emit(_ subject: PublishSubject<Int>) {
    for number in 1...many { subject.onNext(number) }
  }

  /// The thread that passes the elements on changes the state that the other one reads.
  @Test(arguments: [Placement.caller, nil])
  func `a thread that emits while it reads a state does not wait for one that waits for its read`(
    placement: Placement?
  ) throws {
    let loop = try Loop(name: "changes")
    defer { try? loop.shutdown(before: .now + .seconds(60)) }
    let reactor = Script(on: placement ?? .loop(loop), snapshots: .onDemand, capacity: 1)
    // Before its first action, there is no state that the owner changes.
    reactor.send(-1)
    #expect(Threads.yield { reactor.currentState == [-1] })
    let subject = PublishSubject<Int>()
    let (isPassingOn, isRead) = (Gate(), Gate())
    let subscription = subject.subscribe(onNext: { number in
      if number == 0 { isPassingOn.open() }
      reactor.send(number)
    })
    let hasRead = Threads.start {
      reactor.withCurrentState { _ in
        isRead.open()
        _ = isPassingOn.wait()
        Self.emit(subject)
      }
    }
    #expect(isRead.wait())
    let hasPassedOn = Threads.start { subject.onNext(0) }
    #expect(hasRead.wait(seconds: 60), "it waits for the thread that waits for it")
    #expect(hasPassedOn.wait(seconds: 60))
    #expect(Threads.yield { reactor.currentState.count == Self.many + 2 })
    #expect(reactor.currentState == Array(-1...Self.many))
    subscription.dispose()
  }

  /// The thread that passes the elements on reads the state that the other one changes. It is inside of no turn.
  @Test func `a thread that emits while it changes a state does not wait for one that reads the state`() {
    let subject = PublishSubject<Int>()
    let (isPassingOn, isChanging) = (Gate(), Gate())
    let reactor = Script(
      on: .caller, snapshots: .onDemand,
      reduce: { _, state, mutation in
        state.append(mutation)
        isChanging.open()
        _ = isPassingOn.wait()
        Self.emit(subject)
      })
    let read = Record<[Int]>()
    let subscription = subject.subscribe(onNext: { number in
      guard number == 0 else { return }
      isPassingOn.open()
      read.append(reactor.currentState)
    })
    let hasChanged = Threads.start { reactor.send(7) }
    #expect(isChanging.wait())
    let hasRead = Threads.start { subject.onNext(0) }
    #expect(hasChanged.wait(seconds: 60), "it waits for the thread that waits for it")
    #expect(hasRead.wait(seconds: 60))
    #expect(read.elements == [[7]])
    subscription.dispose()
  }

  /// The thread that passes the elements on waits for room in the mailbox of a reactor whose turn waits for it.
  @Test func `a turn that waits for a stream lets the thread go on that waits for its room`() throws {
    let loop = try Loop(name: "emits")
    defer { try? loop.shutdown(before: .now + .seconds(60)) }
    let subject = PublishSubject<Int>()
    let (failures, emitted) = (Record<SendError>(), Shared(Atomic(0)))
    let (isPassingOn, isInTurn) = (Gate(), Gate())
    let reactor = Script(
      on: .loop(loop), capacity: 8, failures: failures,
      mutate: { _, action in
        guard action == -1 else { return .just(action) }
        isInTurn.open()
        _ = isPassingOn.wait()
        for number in 1...Self.many {
          subject.onNext(number)
          emitted.value.store(number, ordering: .relaxed)
        }
        return .empty()
      })
    let subscription = subject.subscribe(onNext: { number in
      if number > 0 { return }
      isPassingOn.open()
      // The turn waits first, as it does at once, while a sender that finds no room spins and yields before.
      _ = Threads.yield { emitted.value.load(ordering: .relaxed) >= 1_024 }
      usleep(50_000)
      for number in 1...100 { reactor.send(number) }
    })
    reactor.send(-1)
    #expect(isInTurn.wait())
    let hasSent = Threads.start { subject.onNext(0) }
    #expect(hasSent.wait(seconds: 60))
    #expect(Threads.yield { reactor.currentState.count == 100 })
    #expect(reactor.currentState == Array(1...100), "nothing is lost, in whichever order they wait")
    #expect(failures.elements.isEmpty)
    subscription.dispose()
  }
}
