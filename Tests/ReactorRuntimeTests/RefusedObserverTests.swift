import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Observers whose reactor has no room to add them.
@Suite struct RefusedObserverTests {
  @Test
  func `one that subscribes in a turn of another reactor is told that it was refused`() throws {
    let loop = try Loop()
    let seen = Record<[Int]>()
    let refused = Record<SendError?>()
    let isDone = Gate()
    let other = Streamed(on: .loop(loop), capacity: 2, reentrantCapacity: 1)
    let reactor = Streamed(
      on: .loop(loop),
      mutate: { _, action in
        for _ in 1...3 { other.send(action) }
        // Never disposed: it ends with `other`.
        other.state.subscribe(
          onNext: { seen.append($0) }, onError: { refused.append($0 as? SendError) })
        isDone.open()
        return .empty()
      })
    reactor.send(1)
    #expect(isDone.wait())
    other.send(2)
    #expect(Threads.yield { other.currentState == [1, 1, 1, 2] })
    #expect(refused.elements == [.reentrantOverflow])
    #expect(seen.elements == [])
    #expect(Threads.start { loop.shutdown() }.wait())
  }
}
