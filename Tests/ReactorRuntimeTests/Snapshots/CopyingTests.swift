import ReactorCore
import TestSupport
import Testing

@testable import ReactorRuntime

/// Tests that a collection in the state is changed in place, unless somebody keeps a copy of it.
@Suite struct CopyingTests {
  enum Action {
    case set(Int)
    case mark
  }

  /// A state that notes in which memory its collection was when it was changed last.
  struct State: Sendable {
    var numbers = Array(repeating: 0, count: 1000)
    @Pulse var marks = 0
    /// How often the collection was copied.
    var copies = 0

    mutating func set(_ number: Int) {
      let before = numbers.withUnsafeBufferPointer { $0.baseAddress }
      numbers[number % 1000] = number
      if numbers.withUnsafeBufferPointer({ $0.baseAddress }) != before { copies += 1 }
    }
  }

  final class Counting: Reactor {
    typealias Mutation = Action
    let runtime: Runtime<Action, Action, State>
    var initialState: State { State() }
    init(on placement: Placement, _ snapshots: SnapshotPolicy = .automatic) {
      runtime = Runtime(on: placement, snapshots: snapshots)
    }
    func reduce(into state: inout State, mutation: Action) {
      switch mutation {
      case .set(let number): state.set(number)
      case .mark: state.marks += 1
      }
    }
  }

  /// A reactor whose collection has been copied for the last time: before the first mutation it is not known which form of
  /// reduce there is.
  private func started(_ snapshots: SnapshotPolicy = .automatic) -> Counting {
    let reactor = Counting(on: .caller, snapshots)
    reactor.send(.mark)
    reactor.send(.set(1))
    return reactor
  }

  private func copies(of reactor: Counting, in body: () -> Void) -> Int {
    let before = reactor.withCurrentState { $0.copies }
    body()
    return reactor.withCurrentState { $0.copies } - before
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `a collection that nobody keeps is changed in place`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let reactor = Counting(on: stage.placement)
    for number in 0..<100 {
      reactor.send(.set(number))
      _ = reactor.withCurrentState { $0.numbers[number] }
    }
    #expect(stage.finish())
    #expect(reactor.withCurrentState { $0.copies } <= 1)
    #expect(reactor.withCurrentState { $0.numbers[99] } == 99)
  }

  @Test
  func `the policy copied copies it once per turn`() {
    let reactor = started(.copied)
    #expect(copies(of: reactor) { for number in 0..<50 { reactor.send(.set(number)) } } == 50)
  }

  @Test
  func `observers of parts of the state keep no copy`() {
    let reactor = started()
    let bag = DisposeBag()
    let seen = Record<Int>()
    reactor.state.map { $0.numbers[7] }.distinctUntilChanged().subscribe(onNext: { seen.append($0) })
      .disposed(by: bag)
    reactor.pulse(\.$marks).subscribe(onNext: { seen.append(-$0) }).disposed(by: bag)
    reactor.state.subscribe(onNext: { _ in }).disposed(by: bag)
    let copied = copies(of: reactor) {
      for number in 0..<50 {
        reactor.send(.set(number))
        reactor.send(.mark)
        // A new observer is replayed the state.
        reactor.state.map(\.marks).subscribe(onNext: { _ in }).disposed(by: bag)
      }
    }
    #expect(copied == 0)
    #expect(seen.elements.contains(7) && seen.elements.contains(-51))
    // The counterpart: an observer that keeps the state makes each change copy.
    let kept = Record<State>()
    reactor.state.subscribe(onNext: { kept.append($0) }).disposed(by: bag)
    #expect(copies(of: reactor) { for number in 0..<50 { reactor.send(.set(number)) } } == 50)
  }

  @Test
  func `a copy that is kept makes one change copy, and copies are counted`() {
    let reactor = started()
    let before = reactor.counters.copiedStates
    let kept = reactor.currentState
    #expect(copies(of: reactor) { for number in 0..<50 { reactor.send(.set(number)) } } == 1)
    #expect(kept.numbers[7] == 0)
    for _ in 0..<10 { _ = reactor.currentState.marks }
    #expect(copies(of: reactor) { reactor.send(.set(3)) } == 0)
    #expect(reactor.counters.copiedStates == before + 11)
    for _ in 0..<10 { _ = reactor.withCurrentState { $0.marks } }
    #expect(reactor.counters.copiedStates == before + 11)
  }
}
