import FaultyPlatform
import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// No memory for a mailbox, or for a loop: an error, nothing lost or leaked, and it can be tried again.
@Suite struct AllocationFaultTests {
  /// Calls `attempt` with memory for 0, 1, … allocations until it answers something else than `noMemory`.
  ///
  /// - Returns: How often it failed, and what it answered then.
  private func failures<Refusal: Equatable>(
    as noMemory: Refusal, _ attempt: () -> Refusal?
  ) -> (count: Int, last: Refusal?) {
    defer { faulty_reset() }
    let alive = faulty_alive_of_thread()
    for allowed in 0..<100 {
      faulty_fail_allocations_after(Int32(allowed))
      let answer = attempt()
      if answer != noMemory { return (allowed, answer) }
      #expect(faulty_alive_of_thread() == alive)
    }
    return (.max, noMemory)
  }

  private func refusal(_ send: () throws(SendError) -> Void) -> SendError? {
    do {
      try send()
      return nil
    } catch {
      return error
    }
  }

  /// The mailbox's memory comes with the first action that has to wait, and more when there are many.
  @Test(arguments: PlacementUnderTest.allCases)
  func `mailbox that grows`(_ placement: PlacementUnderTest) throws {
    defer { faulty_reset() }
    let stage = try Stage(placement)
    let (isInside, mayGoOn) = (Gate(), Gate())
    let failed = Record<SendError>()
    let reactor = Script.held(
      on: stage.placement, capacity: 512, failures: failed, isInside: isInside, mayGoOn: mayGoOn)
    let isDone = Threads.start { reactor.send(0) }
    #expect(isInside.wait())
    var (sent, growths) = (0, 0)
    while true {
      let refusals = failures(as: .outOfMemory) {
        refusal { () throws(SendError) in try reactor.trySend(sent + 1) }
      }
      if refusals.last == .full {
        // It makes a place to wait in, even if the caller does not want to.
        #expect(refusals.count == 1)
        break
      }
      #expect(refusals.last == nil)
      sent += 1
      if refusals.count == 0 { continue }
      growths += 1
      // A ring is two blocks.
      #expect(refusals.count == 2)
    }
    // 8, 64, 512; on a loop the first one is there, for the action that it is held in.
    #expect(growths == (placement == .caller ? 3 : 2))
    #expect((511...512).contains(sent))
    mayGoOn.open()
    #expect(isDone.wait())
    #expect(stage.finish { reactor.currentState.count == sent + 1 })
    #expect(reactor.currentState == Array(0...sent))
    #expect(failed.elements == [])
  }

  /// Who sends without looking is told through the failure handler.
  @Test
  func `send reports it`() {
    defer { faulty_reset() }
    let (isInside, mayGoOn) = (Gate(), Gate())
    let failures = Record<SendError>()
    let reactor = Script.held(
      on: .caller, capacity: 8, failures: failures, isInside: isInside, mayGoOn: mayGoOn)
    let isDone = Threads.start { reactor.send(0) }
    #expect(isInside.wait())
    faulty_fail_allocations_after(0)
    for action in 1...3 { reactor.send(action) }
    #expect(failures.elements == [.outOfMemory, .outOfMemory, .outOfMemory])
    faulty_reset()
    reactor.send(4)
    mayGoOn.open()
    #expect(isDone.wait())
    #expect(reactor.currentState == [0, 4])
    #expect(failures.elements.count == 3)
  }

  /// What needs no mailbox needs no memory.
  @Test
  func `send to an idle reactor needs none`() {
    defer { faulty_reset() }
    let failures = Record<SendError>()
    let reactor = Script(on: .caller, failures: failures)
    faulty_fail_allocations_after(0)
    for action in 0..<10 { reactor.send(action) }
    #expect(reactor.currentState == Array(0..<10))
    #expect(failures.elements == [])
  }

  @Test
  func `loops`() {
    func refusal(_ make: () throws(CoreError) -> Void) -> CoreError? {
      do {
        try make()
        return nil
      } catch {
        return error
      }
    }
    func failures(_ make: () throws(CoreError) -> Void) -> Int {
      self.failures(as: .outOfMemory) { refusal(make) }.count
    }
    #expect(failures { () throws(CoreError) in _ = try Loop() } == 3)
    #expect(failures { () throws(CoreError) in _ = try HostedLoop() } == 3)
    #expect(failures { () throws(CoreError) in _ = try LoopGroup(count: 2) } == 6)
  }
}
