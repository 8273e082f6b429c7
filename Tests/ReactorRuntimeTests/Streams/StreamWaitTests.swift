import Glibc
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

/// Threads that wait until another thread has passed on the elements of a stream, and that keep that thread waiting in another way.
@Suite struct StreamWaitTests {
  /// A stream, and how much one thread emits into it: more than there is room for while another one passes elements on.
  private final class Flood: Sendable {
    static let count = 1_100
    let subject = PublishSubject<Int>()
    let isPassingOn = Gate()
    private let emitted = Atomic(0)

    /// Emits 1 to ``count``, once another thread passes on 0.
    func emit() {
      _ = isPassingOn.wait()
      for number in 1...Self.count {
        subject.onNext(number)
        emitted.store(number, ordering: .relaxed)
      }
    }

    /// Called with element 0. Returns when the thread that emits probably sleeps.
    func waitUntilFull() {
      isPassingOn.open()
      _ = Threads.yield { emitted.load(ordering: .relaxed) >= 1_024 }
      usleep(50_000)
    }
  }

  /// The thread that passes the elements on changes the state that the other one reads, or waits for the loop that does.
  @Test(arguments: [Placement.caller, nil])
  func `a thread that emits while it reads a state does not wait for one that waits for its read`(
    placement: Placement?
  ) throws {
    let loop = try Loop(name: "changes")
    defer { try? loop.shutdown(before: .now + .seconds(60)) }
    let reactor = Script(
      on: placement ?? .loop(loop), snapshots: .onDemand, capacity: 1, reentrantCapacity: 4 * Flood.count)
    // Before its first action, there is no state that the owner changes.
    reactor.send(-1)
    #expect(Threads.yield { reactor.currentState == [-1] })
    let (flood, isRead) = (Flood(), Gate())
    let subscription = flood.subject.subscribe(onNext: { number in
      if number == 0 { flood.waitUntilFull() }
      reactor.send(number)
    })
    let hasRead = Threads.start {
      reactor.withCurrentState { _ in
        isRead.open()
        flood.emit()
      }
    }
    #expect(isRead.wait())
    let hasPassedOn = Threads.start { flood.subject.onNext(0) }
    #expect(hasRead.wait(seconds: 60), "it waits for the thread that waits for it")
    #expect(hasPassedOn.wait(seconds: 60))
    #expect(Threads.yield(seconds: 60) { reactor.currentState.count == Flood.count + 2 })
    #expect(reactor.currentState == Array(-1...Flood.count))
    subscription.dispose()
  }

  /// The thread that passes the elements on reads the state that the other one changes. It is inside of no turn.
  @Test func `a thread that emits while it changes a state does not wait for one that reads the state`() {
    let (flood, isChanging) = (Flood(), Gate())
    let reactor = Script(
      on: .caller, snapshots: .onDemand,
      reduce: { _, state, mutation in
        state.append(mutation)
        isChanging.open()
        flood.emit()
      })
    let read = Record<[Int]>()
    let subscription = flood.subject.subscribe(onNext: { number in
      guard number == 0 else { return }
      flood.isPassingOn.open()
      read.append(reactor.currentState)
    })
    let hasChanged = Threads.start { reactor.send(7) }
    #expect(isChanging.wait())
    let hasRead = Threads.start { flood.subject.onNext(0) }
    #expect(hasChanged.wait(seconds: 60), "it waits for the thread that waits for it")
    #expect(hasRead.wait(seconds: 60))
    #expect(read.elements == [[7]])
    subscription.dispose()
  }

  /// The thread that passes the elements on waits for room in the mailbox of a reactor whose turn waits for it.
  @Test func `a turn that waits for a stream lets the thread go on that waits for its room`() throws {
    let loop = try Loop(name: "emits")
    defer { try? loop.shutdown(before: .now + .seconds(60)) }
    let (flood, isInTurn, failures) = (Flood(), Gate(), Record<SendError>())
    let reactor = Script(
      on: .loop(loop), capacity: 8, failures: failures,
      mutate: { _, action in
        guard action == -1 else { return .just(action) }
        isInTurn.open()
        flood.emit()
        return .empty()
      })
    let subscription = flood.subject.subscribe(onNext: { number in
      if number > 0 { return }
      // The turn waits first, as it does at once, while a sender that finds no room spins and yields before.
      flood.waitUntilFull()
      for number in 1...100 { reactor.send(number) }
    })
    reactor.send(-1)
    #expect(isInTurn.wait())
    let hasSent = Threads.start { flood.subject.onNext(0) }
    #expect(hasSent.wait(seconds: 60))
    #expect(Threads.yield(seconds: 60) { reactor.currentState.count == 100 })
    #expect(reactor.currentState == Array(1...100), "nothing is lost, in whichever order they wait")
    #expect(failures.elements.isEmpty)
    subscription.dispose()
  }
}
