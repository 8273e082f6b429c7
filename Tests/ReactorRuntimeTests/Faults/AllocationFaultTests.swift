import FaultyPlatform
import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Where memory for a mailbox or for a loop cannot be allocated, there is an error, nothing is lost or leaked, and the
/// operation can be tried again.
@Suite(.disabled(if: Build.isPureSwift, "the pure-Swift core does not allocate through the platform's table"))
struct AllocationFaultTests {
  /// Calls `attempt` with memory for 0, 1, … allocations until it returns something else than `noMemory`.
  ///
  /// - Returns: How often it returned `noMemory`, and the first other result.
  private func failures<Refusal: Equatable>(
    as noMemory: Refusal, _ attempt: () -> Refusal?
  ) -> (count: Int, last: Refusal?) {
    defer { faulty_reset() }
    let alive = faulty_alive_of_thread()
    for allowed in 0..<100 {
      faulty_fail_allocations_after(Int32(allowed))
      let refusal = attempt()
      if refusal != noMemory { return (allowed, refusal) }
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

  /// A mailbox allocates memory when the first action has to wait, and more when many wait.
  @Test(arguments: PlacementUnderTest.allCases)
  func `a mailbox that cannot grow refuses the action and loses nothing`(_ placement: PlacementUnderTest)
    throws
  {
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
        // A refusal needs no memory.
        #expect(refusals.count == 0)
        break
      }
      #expect(refusals.last == nil)
      sent += 1
      if refusals.count == 0 { continue }
      growths += 1
      // A ring consists of two blocks of memory; the one of 8 slots, of one.
      #expect(refusals.count == (placement == .caller && growths == 1 ? 1 : 2))
    }
    // The rings have 8, 64 and 512 slots. On a loop the first one exists already, for the action that holds the owner.
    #expect(growths == (placement == .caller ? 3 : 2))
    #expect((511...512).contains(sent))
    mayGoOn.open()
    #expect(isDone.wait())
    #expect(stage.finish { reactor.currentState.count == sent + 1 })
    #expect(reactor.currentState == Array(0...sent))
    #expect(failed.elements == [])
  }

  /// `send` does not throw, so the failure handler is told.
  @Test
  func `send reports an action for which there is no memory`() {
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

  /// Without contention an action does not pass through the mailbox.
  @Test
  func `a send to an idle reactor allocates nothing`() {
    defer { faulty_reset() }
    let failures = Record<SendError>()
    let reactor = Script(on: .caller, failures: failures)
    faulty_fail_allocations_after(0)
    for action in 0..<10 { reactor.send(action) }
    #expect(reactor.currentState == Array(0..<10))
    #expect(failures.elements == [])
  }

  @Test
  func `loops that cannot be allocated throw and leak nothing`() {
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
