import ReactorCore
import ReactorTesting
import TestSupport
import Testing

@testable import ReactorRuntime

/// How much a reactor holds when more is sent than it processes. The loop takes one step at a time, and a turn
/// processes one action, so the numbers are exact.
@Suite struct MailboxBoundTests {
  private let capacity = 4
  private let reentrantCapacity = 8

  private func slowReactor(
    on loop: SteppedLoop, overflow: OverflowPolicy = .block, failures: Record<SendError> = Record(),
    mutate: @escaping Script.Mutate = { _, action in .just(action) }
  ) -> Script {
    let reactor = Script(
      on: loop.placement, capacity: capacity, overflow: overflow, reentrantCapacity: reentrantCapacity,
      failures: failures, mutate: mutate)
    // Starts the reactor, since the action that starts it would take a slot.
    _ = reactor.state
    return reactor
  }

  /// Sends to `reactor` from inside a turn of another one.
  private func sendFromATurn(_ actions: ClosedRange<Int>, to reactor: Script) {
    let sender = Script(
      on: .caller,
      mutate: { _, _ in
        for action in actions { reactor.send(action) }
        return .empty()
      })
    sender.send(0)
  }

  /// As if the owner were stopped between its look for what has spilled and its withdrawal of the request to check.
  @Test func `an owner that withdraws the request too late checks again for what has spilled`() throws {
    let mailbox = try Mailbox<Int>(capacity: 1, reentrantCapacity: 8)
    let isFull = mailbox.ring.offer(.action(0)) == .accepted
    #expect(isFull)
    let made = mailbox.ensureOverflow()
    let overflow = try #require(made)
    var outcomes = [
      overflow.spilled.keep(.action(1), beside: mailbox.ring, limit: 8, mailbox.ownerCheck)
    ]
    for action in 2...4 {
      outcomes.append(
        overflow.spilled.keepDroppingOldest(
          action, beside: mailbox.ring, mailbox.ownerCheck, drop: { _ in }))
    }
    #expect(outcomes == [.kept, .kept, .kept, .kept])
    mailbox.ownerCheck.withdraw()
    let isTaken = overflow.spilled.tryTakeOver(to: mailbox.ownerQueue, mailbox.ring, mailbox.ownerCheck)
    #expect(isTaken)
    // Action 4 is still there.
    let mustCheck = mailbox.mustCheck
    #expect(mustCheck)
    let removed = mailbox.removeAll()
    #expect(removed.count == 3)
    let mustCheckAfterwards = mailbox.mustCheck
    #expect(!mustCheckAfterwards)
    mailbox.free()
  }

  @Test
  func `what turns send to a slow reactor is bounded, however many turns that has meanwhile`() throws {
    let loop = try SteppedLoop(turnLimit: 1)
    let failures = Record<SendError>()
    let reactor = slowReactor(on: loop, failures: failures)
    var sent = 0
    for _ in 0..<50 {
      sendFromATurn(sent + 1...sent + 20, to: reactor)
      sent += 20
      let held = sent - failures.elements.count - reactor.currentState.count
      #expect(held <= capacity + reentrantCapacity)
      #expect(reactor.counters.waiting == held)
      #expect(loop.step() == 1)
    }
    #expect(failures.elements.allSatisfy { $0 == .reentrantOverflow })
    #expect(loop.run())
    #expect(reactor.counters.waiting == 0)
    // The accepted ones are processed in order.
    #expect(reactor.currentState == reactor.currentState.sorted())
    #expect(reactor.currentState.count == sent - failures.elements.count)
  }

  @Test
  func `what dropOldest keeps is bounded, however many turns the reactor has meanwhile`() throws {
    let loop = try SteppedLoop(turnLimit: 1)
    let failures = Record<SendError>()
    let reactor = slowReactor(on: loop, overflow: .dropOldest, failures: failures)
    var sent = 0
    for _ in 0..<50 {
      for _ in 0..<20 {
        sent += 1
        reactor.send(sent)
      }
      let held = sent - failures.elements.count - reactor.currentState.count
      // The ring, and twice as many beside it.
      #expect(held <= 3 * capacity)
      #expect(reactor.counters.waiting == held)
      #expect(loop.step() == 1)
    }
    #expect(loop.run())
    #expect(failures.elements.allSatisfy { $0 == .dropped })
    #expect(reactor.currentState == reactor.currentState.sorted())
    #expect(reactor.currentState.last == sent)
    #expect(reactor.currentState.count == sent - failures.elements.count)
    #expect(reactor.counters.dropped == failures.elements.count)
  }

  @Test(arguments: [OverflowPolicy.block, .dropOldest])
  func `the reactor's own actions have a limit of their own, whatever others have left beside the mailbox`(
    _ policy: OverflowPolicy
  ) throws {
    let loop = try SteppedLoop(turnLimit: 1)
    let failures = Record<SendError>()
    let refused = Record<SendError>()
    let reactor = slowReactor(
      on: loop, overflow: policy, failures: failures,
      mutate: { reactor, action in
        guard reactor.currentState.isEmpty else { return .just(action) }
        for own in 1...9 {
          do throws(SendError) { try reactor.trySend(-own) } catch { refused.append(error) }
        }
        return .just(action)
      })
    reactor.send(0)
    // Beside the mailbox is as much as there can be.
    sendFromATurn(1...100, to: reactor)
    #expect(loop.run())
    #expect(refused.elements == [.reentrantOverflow])
    // They keep their place behind what was sent before them.
    let others = policy == .block ? Array(0...11) : Array(97...100)
    #expect(reactor.currentState == others + (1...8).map { -$0 })
    let reason: SendError = policy == .block ? .reentrantOverflow : .dropped
    #expect(failures.elements == Array(repeating: reason, count: 101 - others.count))
  }

  @Test
  func `dropOldest under overload drops what others send, and nothing of the reactor's own`() throws {
    let loop = try SteppedLoop(turnLimit: 3)
    let failures = Record<Failure>()
    let reactor = Script(
      on: loop.placement, capacity: capacity, overflow: .dropOldest, reentrantCapacity: reentrantCapacity,
      onFailure: { failures.append($0) },
      mutate: { reactor, action in
        if action > 0 { reactor.send(-action) }
        return .just(action)
      })
    for round in 0..<100 {
      for action in 1...40 { reactor.send(round * 40 + action) }
      loop.step()
    }
    #expect(loop.run())
    #expect(!failures.elements.isEmpty)
    #expect(failures.elements.allSatisfy { $0.sendError == .dropped && ($0.action as? Int ?? 0) > 0 })
    // Each action that was processed has sent one.
    let state = reactor.currentState
    #expect(state.filter { $0 < 0 }.map { -$0 } == state.filter { $0 > 0 })
    #expect(state.count { $0 > 0 } + failures.elements.count == 4000)
  }

  @Test
  func `what the reactor sends to itself is counted as waiting`() throws {
    let loop = try SteppedLoop(turnLimit: 1)
    let reactor = slowReactor(
      on: loop,
      mutate: { reactor, action in
        if action == 0 { for own in 1...5 { reactor.send(own) } }
        return .just(action)
      })
    reactor.send(0)
    #expect(reactor.counters.waiting == 1)
    for left in (0...5).reversed() {
      #expect(loop.step() == 1)
      #expect(reactor.counters.waiting == left)
      #expect(reactor.counters.sent == 6)
    }
  }

  /// The cost of a send must not depend on how many are kept.
  @Test
  func `dropping the oldest of very many costs no more than of a few`() {
    func duration(ofDropsAt capacity: Int) -> Duration {
      let (isInside, mayGoOn) = (Gate(), Gate())
      let reactor = Script.held(
        on: .caller, capacity: capacity, overflow: .dropOldest, isInside: isInside, mayGoOn: mayGoOn)
      let isDone = Threads.start { reactor.send(0) }
      #expect(isInside.wait())
      // Everything in the ring is dropped, and as much is kept beside it.
      for action in 1...2 * capacity + 1 { reactor.send(action) }
      let begin = processorTime
      for action in 1...20_000 { reactor.send(action) }
      let duration = processorTime - begin
      mayGoOn.open()
      #expect(isDone.wait())
      return duration
    }
    _ = duration(ofDropsAt: 64)
    let few = leastOfThree { duration(ofDropsAt: 64) }
    let many = leastOfThree { duration(ofDropsAt: 1 << 16) }
    #expect(many < few * 10, "few: \(few), very many: \(many)")
  }
}
