import FaultyPlatform
import Glibc
import ReactorCore
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

/// A state with one place that nobody has read for so long that its owner changes it without asking for readers: see `rr_access.h`.
@Suite struct BiasedOwnerTests {
  private final class Count: Reactor {
    let initialState = [0]
    let runtime = Runtime<Int, Int, [Int]>(snapshots: .onDemand)
    let hasBegun = Atomic(false)
    let mayEnd = Atomic(false)

    /// Action 0 sends itself once more, so the owner stays the owner.
    func mutate(action: Int) -> Observable<Int> {
      if action > 0 { return .just(action) }
      hasBegun.store(true, ordering: .releasing)
      if !mayEnd.load(ordering: .acquiring) { send(0) }
      // A reader that has waited for longer than a millisecond makes the owner wait.
      usleep(3000)
      return .just(1)
    }

    func reduce(into state: inout [Int], mutation: Int) { state[0] += mutation }
  }

  /// More changes than it takes.
  private static let many = 10_000

  @Test func `A reader sees all changes of owners that nobody had read, on whichever threads they were`() {
    let reactor = Count()
    var sent = 0
    for _ in 0..<4 {
      // Each owner takes over from one on another thread.
      for _ in 0..<2 {
        #expect(Threads.start { for _ in 0..<Self.many { reactor.send(1) } }.wait())
        sent += Self.many
      }
      let seen = Record<Int>()
      #expect(Threads.start { seen.append(reactor.withCurrentState { $0[0] }) }.wait())
      #expect(seen.elements == [sent])
    }
  }

  /// The kernel refuses the fence by which a reader would end that. Then the owner gives it up at its next change.
  @Test(
    .disabled(if: Build.isPureSwift, "the pure-Swift core uses no membarrier"), arguments: [EPERM, ENOSYS])
  func `An owner lets a reader in to which the kernel refuses the fence`(_ error: Int32) {
    let reactor = Count()
    for _ in 0..<Self.many { reactor.send(1) }
    // The reader must not find the reactor idle, or it needs no fence.
    let isOver = Threads.start { reactor.send(0) }
    #expect(Threads.yield { reactor.hasBegun.load(ordering: .acquiring) })
    let seen = Record<Int>()
    let isRead = Threads.start {
      faulty_fail(FAULTY_MEMBARRIER, -1, error)
      for _ in 0..<10 { seen.append(reactor.withCurrentState { $0[0] }) }
      faulty_reset()
    }
    #expect(isRead.wait(seconds: 20))
    reactor.mayEnd.store(true, ordering: .releasing)
    #expect(isOver.wait())
    // The numbers never go back.
    #expect(isRead.wait())
    #expect(seen.elements == seen.elements.sorted())
    #expect((seen.elements.first ?? 0) >= Self.many)
  }
}
