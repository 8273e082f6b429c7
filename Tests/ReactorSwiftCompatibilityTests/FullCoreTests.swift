import Synchronization
import TestSupport
import Testing

@testable import ReactorSwiftCompatibility

/// What a core does while as much waits as it holds.
@Suite struct FullCoreTests {
  @Test func `fire waits while 65,536 events wait, and none is lost`() {
    let mayGoOn = Gate()
    let isBlocked = Gate()
    struct Sum: State {
      var count = 0
      mutating func react(to event: any Event) { count += 1 }
    }
    let core = Core(
      state: Sum(),
      middlewares: [
        Processing<Sum> { _, state in
          guard state.count == 1 else { return }
          isBlocked.open()
          #expect(mayGoOn.wait())
        }
      ])
    core.fire(event: Nothing())
    #expect(isBlocked.wait())
    let fired = Record<Int>()
    let hasFired = Threads.start {
      for number in 1...66_000 {
        core.fire(event: Nothing())
        if number.isMultiple(of: 1000) { fired.append(number) }
      }
    }
    #expect(Threads.yield { fired.elements.last == 65_000 })
    sleep(milliseconds: 50)
    #expect(fired.elements.last == 65_000)
    #expect(!hasFired.isOpen)
    mayGoOn.open()
    #expect(hasFired.wait())
    #expect(Threads.yield { core.state.count == 66_001 })
  }

  @Test func `fire waits while 65,536 commands wait for one that blocks, and none is lost`() {
    let core = Core(state: Counting())
    let (isBlocked, mayGoOn) = (Gate(), Gate())
    let executed = Executions()
    core.fire(
      command: Calling { _, _ in
        isBlocked.open()
        #expect(mayGoOn.wait())
      })
    #expect(isBlocked.wait())
    let fired = Record<Int>()
    let hasFired = Threads.start {
      for number in 1...66_000 {
        core.fire(command: executed)
        if number.isMultiple(of: 1000) { fired.append(number) }
      }
    }
    #expect(Threads.yield { fired.elements.last == 65_000 })
    sleep(milliseconds: 50)
    #expect(fired.elements.last == 65_000)
    #expect(!hasFired.isOpen)
    // Events do not wait for commands.
    core.fire(event: Add(number: 1))
    #expect(Threads.yield { core.state.numbers == [1] })
    mayGoOn.open()
    #expect(hasFired.wait())
    #expect(Threads.yield { executed.count.load(ordering: .relaxed) == 66_000 })
  }

  /// Counts how often it is executed.
  private final class Executions: Command {
    let count = Atomic(0)

    func execute(state: Counting, core: Core<Counting>) { count.add(1, ordering: .relaxed) }
  }

  @Test func `a command that fires commands never waits, and what exceeds the bound is reported`() {
    let core = Core(state: Counting())
    let executed = Executions()
    let lost = HookedFailures { $0.action is Executions }
    let hasFired = Gate()
    core.fire(
      command: Calling { _, core in
        for _ in 0..<140_000 { core.fire(command: executed) }
        hasFired.open()
      })
    #expect(hasFired.wait())
    #expect(Threads.yield { executed.count.load(ordering: .relaxed) + lost.failures.count == 140_000 })
    #expect(lost.failures.count == 140_000 - 2 * 65_536)
  }
}
