import Glibc
import ReactorCore
import Synchronization
import TestSupport
import Testing

@testable import ReactorRuntime

/// How much a sender processes of what others have sent.
@Suite struct TurnBudgetTests {
  /// Sends action 0 on a thread that stops in it, sends `count` more, and lets it go on.
  ///
  /// - Returns: How many actions that thread has processed.
  private func countOnSender(_ count: Int, _ send: @escaping @Sendable (Script) -> Void) throws -> Int {
    let (isInside, mayGoOn) = (Gate(), Gate())
    let sender = Shared(Atomic<UInt64>(0))
    let onSender = Shared(Atomic(0))
    let reactor = Script(
      on: .caller, capacity: 1 << 19,
      mutate: { _, action in
        if action == 0 {
          sender.value.store(CurrentCore.threadToken, ordering: .relaxed)
          isInside.open()
          _ = mayGoOn.wait()
        }
        if sender.value.load(ordering: .relaxed) == CurrentCore.threadToken {
          onSender.value.add(1, ordering: .relaxed)
        }
        return .just(action)
      })
    _ = reactor.state
    let isReturned = Gate()
    let isDone = Gate()
    let isEnded = Threads.start {
      send(reactor)
      isReturned.open()
      // A thread that ends gives its token away.
      _ = isDone.wait()
    }
    #expect(isInside.wait())
    for action in 1...count { try reactor.trySend(action) }
    mayGoOn.open()
    #expect(isReturned.wait())
    #expect(Threads.yield { reactor.withCurrentState { $0.count } == count + 1 })
    #expect(reactor.currentState == Array(0...count))
    isDone.open()
    #expect(isEnded.wait())
    return onSender.value.load(ordering: .relaxed)
  }

  @Test
  func `a sender runs turns for others up to a limit, and another thread continues`() throws {
    // Its own action is a turn of its own.
    #expect(try countOnSender(300_000) { $0.send(0) } == 1 + TurnBudget.usualTurns * 1024)
  }

  @Test
  func `what is less than the limit is processed by the sender`() throws {
    #expect(try countOnSender(1000) { $0.send(0) } == 1 + 1000)
  }

  @Test
  func `a sender with a deadline processes one action of others after it`() throws {
    let count = try countOnSender(1000) { try? $0.send(0, before: .now) }
    #expect(count == 2)
  }

  @Test
  func `a request with a deadline processes one action of others after it`() throws {
    let count = try countOnSender(1000) { reactor in
      reactor.ask({ (_: Reply<Int>) in 0 }, before: .now, completion: { _ in })
    }
    #expect(count == 2)
  }

  @Test(arguments: [false, true])
  func `a task's request with a deadline processes one action of others after it`(captures: Bool) throws {
    let executor = EachOnItsThread()
    let count = try countOnSender(1000) { reactor in
      let isAsked = Gate()
      Task(executorPreference: executor) {
        if captures {
          let answer = try? await reactor.ask(capturing: Self.$local, before: .now) { (_: Reply<Int>) in 0 }
          #expect(answer == nil)
        } else {
          let answer = try? await reactor.ask(before: .now) { (_: Reply<Int>) in 0 }
          #expect(answer == nil)
        }
        isAsked.open()
      }
      #expect(isAsked.wait())
    }
    #expect(count == 2)
    executor.isDone.open()
  }

  @Test
  func `a suspending send with a deadline processes one action of others after it`() throws {
    let executor = EachOnItsThread()
    let count = try countOnSender(1000) { reactor in
      let isSent = Gate()
      Task(executorPreference: executor) {
        try await reactor.sendSuspending(0, before: .now)
        isSent.open()
      }
      #expect(isSent.wait())
    }
    #expect(count == 2)
    executor.isDone.open()
  }

  @TaskLocal private static var local = 0

  /// Runs each piece of a task on a thread of its own, which ends after the test: a thread that ends gives its token away.
  private final class EachOnItsThread: TaskExecutor {
    let isDone = Gate()

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      _ = Threads.start { [self] in
        job.runSynchronously(on: asUnownedTaskExecutor())
        _ = isDone.wait()
      }
    }
  }

  @Test
  func `a sender with a deadline stops at it, also if slow actions follow very many fast ones`() throws {
    let (isInside, mayGoOn) = (Gate(), Gate())
    let sender = Shared(Atomic<UInt64>(0))
    let deadlines = Record<ContinuousClock.Instant>()
    let lateOnSender = Record<Int>()
    let reactor = Script(
      on: .caller, capacity: 4096,
      mutate: { _, action in
        if sender.value.load(ordering: .relaxed) == CurrentCore.threadToken, deadlines.elements[0] < .now {
          lateOnSender.append(action)
        }
        if action == 0 {
          sender.value.store(CurrentCore.threadToken, ordering: .relaxed)
          isInside.open()
          _ = mayGoOn.wait()
        }
        if action > 1023 { usleep(5_000) }
        return .just(action)
      })
    _ = reactor.state
    let (isReturned, isDone) = (Gate(), Gate())
    let isEnded = Threads.start {
      let deadline = ContinuousClock.now + .milliseconds(200)
      deadlines.append(deadline)
      try? reactor.send(0, before: deadline)
      isReturned.open()
      // A thread that ends gives its token away.
      _ = isDone.wait()
    }
    #expect(isInside.wait())
    for action in 1..<1423 { try reactor.trySend(action) }
    mayGoOn.open()
    #expect(isReturned.wait())
    // One that was about to begin, and one more. All of the slow ones take two seconds.
    #expect(lateOnSender.elements.count <= 2, "\(lateOnSender.elements)")
    #expect(Threads.yield { reactor.withCurrentState { $0.count } == 1423 })
    #expect(reactor.currentState == Array(0..<1423))
    isDone.open()
    #expect(isEnded.wait())
  }

  /// The same without an own action that finds the reactor idle.
  @Test
  func `a sender with a deadline that finds others' actions processes one of them after it`() throws {
    let sender = Shared(Atomic<UInt64>(0))
    let onSender = Shared(Atomic(0))
    let reactor = Script(
      on: .caller, capacity: 64,
      mutate: { _, action in
        if sender.value.load(ordering: .relaxed) == CurrentCore.threadToken {
          onSender.value.add(1, ordering: .relaxed)
        }
        return .just(action)
      })
    _ = reactor.state
    var frozen = try (1...8).map { action in
      var send = try #require(FrozenSend(action, to: reactor))
      send.go(to: .published)
      return send
    }
    let isDone = Gate()
    let isEnded = Threads.start {
      sender.value.store(CurrentCore.threadToken, ordering: .relaxed)
      try? reactor.send(100, before: .now)
      _ = isDone.wait()
    }
    #expect(Threads.yield { reactor.currentState.count == 9 })
    #expect(reactor.currentState == Array(1...8) + [100])
    // One before it puts its action into the mailbox, and one after that if it becomes the owner again.
    #expect(onSender.value.load(ordering: .relaxed) <= 2)
    for index in frozen.indices { frozen[index].go(to: .sent) }
    isDone.open()
    #expect(isEnded.wait())
  }

  @Test
  func `a budget with a deadline is spent at the deadline, or after as many actions as any other`() {
    var allowance = TurnAllowance(.until(MonotonicTime.after(.seconds(3600))), turnLimit: 1024)
    for _ in 0..<TurnBudget.usualTurns {
      #expect(!allowance.isSpent)
      allowance.note(1024)
    }
    #expect(allowance.isSpent)
    allowance.extend()
    #expect(!allowance.isSpent)
    var late = TurnAllowance(.until(MonotonicTime.now), turnLimit: 1024)
    late.note(1)
    #expect(late.isSpent)
  }
}
