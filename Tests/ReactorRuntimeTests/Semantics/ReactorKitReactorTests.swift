import ReactorRuntime
import TestSupport
import Testing

/// Tests of what only a ``ReactorKitReactor`` has by default, and of how its mistakes are found. What the compiler refuses of
/// a ``Reactor`` is in Scripts/release-checks.
@Suite struct ReactorKitReactorTests {
  /// `mutate` and `reduce` are misspelt.
  final class Misspelt: ReactorKitReactor {
    enum Action { case increase }
    enum Mutation { case add(Int) }
    let initialState = 5
    func mutate(_ action: Action) -> Observable<Mutation> { .just(.add(1)) }
    func reduce(state: inout Int, mutation: Mutation) {}
  }

  /// Only `reduce` is.
  final class HalfRight: ReactorKitReactor {
    typealias Action = Int
    let initialState = 5
    func reduce(state: inout Int, mutation: Int) { state += mutation }
  }

  @Test func `debug builds warn of an action without mutate, and of a mutation without reduce`() {
    #if DEBUG
      let ofMisspelt = HookedWarnings(about: Misspelt.self)
      let ofHalfRight = HookedWarnings(about: HalfRight.self)
    #endif
    let (misspelt, halfRight) = (Misspelt(), HalfRight())
    misspelt.send(.increase)
    halfRight.send(1)
    #expect(misspelt.currentState == 5)
    #expect(halfRight.currentState == 5)
    #if DEBUG
      #expect(ofMisspelt.kinds == [.missingMethod])
      #expect(ofMisspelt.warnings.first?.problem.contains("has no mutate(action:)") == true)
      #expect(ofHalfRight.kinds == [.missingMethod])
      #expect(ofHalfRight.warnings.first?.problem.contains("has no reduce(state:mutation:)") == true)
    #endif
  }

  @Test func `a runtime of other types stops the program`() async {
    let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      final class Mistaken: ReactorKitReactor {
        typealias Action = Int
        typealias State = Int
        let initialState = 0
        let runtime = Runtime<Int, Int, String>()
        func reduce(state: Int, mutation: Int) -> Int { state + mutation }
      }
      Mistaken().send(1)
    }
    #expect(stop?.standardErrorContent.says("stores a runtime that is not used") == true)
    await #expect(processExitsWith: .success) {
      final class Right: ReactorKitReactor {
        typealias Action = Int
        typealias State = Int
        let initialState = 0
        let runtime = Runtime<Int, Int, Int>()
        func reduce(state: Int, mutation: Int) -> Int { state + mutation }
      }
      Right().send(1)
    }
  }
}
