import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Tests of observers that a reactor has no room to add, or that come after its states have ended.
@Suite struct RefusedObserverTests {
  @Test
  func `an observer that subscribes in a turn of another reactor gets an error if there is no room`() throws {
    let loop = try Loop()
    let seen = Record<[Int]>()
    let refused = Record<SendError?>()
    let isDone = Gate()
    let other = Streamed(on: .loop(loop), capacity: 2, reentrantCapacity: 1)
    let reactor = Streamed(
      on: .loop(loop),
      mutate: { _, action in
        for _ in 1...3 { other.send(action) }
        // It is never disposed, and ends with `other`.
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

  @Test
  func `an observer that comes after a transform has ended completes though the owner is in a turn`() {
    let (isInside, mayGoOn, isCompleted) = (Gate(), Gate(), Gate())
    let stop = PublishSubject<Void>()
    let reactor = Streamed(
      mutate: { _, action in
        if action == 1 {
          isInside.open()
          #expect(mayGoOn.wait())
        }
        return .empty()
      }, mutation: { $0.take(until: stop) })
    reactor.send(0)
    let isDone = Threads.start { reactor.send(1) }
    #expect(isInside.wait())
    stop.onNext(())
    let bag = DisposeBag()
    reactor.state.subscribe(onCompleted: { isCompleted.open() }).disposed(by: bag)
    mayGoOn.open()
    #expect(isDone.wait())
    #expect(isCompleted.wait(seconds: 20))
  }
}
