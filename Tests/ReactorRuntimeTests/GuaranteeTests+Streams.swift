import Glibc
import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

extension GuaranteeTests {
  @Test(arguments: PlacementUnderTest.allCases)
  func `Mutations that a stream emits on a foreign thread are reduced on the owner`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let answers = PublishSubject<Int>()
    let (isInside, mayGoOn) = (Gate(), Gate())
    let owner = Record<pthread_t>()
    let reducers = Record<pthread_t>()
    let reactor = Script(
      on: stage.placement,
      mutate: { _, action in
        if action == 1 { return answers.asObservable() }
        owner.append(pthread_self())
        isInside.open()
        #expect(mayGoOn.wait())
        return .just(action)
      },
      reduce: { _, state, mutation in
        reducers.append(pthread_self())
        state.append(mutation)
      })
    reactor.send(1)
    let isSent = Threads.start { reactor.send(2) }
    #expect(isInside.wait())
    // Neither this thread nor those threads reduce, because the owner is processing an action.
    #expect(Threads.run(4) { answers.onNext(10 + $0) })
    #expect(reducers.elements.isEmpty)
    mayGoOn.open()
    #expect(isSent.wait())
    #expect(stage.finish { reactor.currentState.count == 5 })
    #expect(reactor.currentState.first == 2)
    #expect(reactor.currentState.dropFirst().sorted() == [10, 11, 12, 13])
    #expect(Set(reducers.elements) == Set(owner.elements))
  }
}
