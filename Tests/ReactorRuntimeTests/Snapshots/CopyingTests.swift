import ReactorCore
import Synchronization
import TestSupport
import Testing

@testable import ReactorRuntime

/// Tests that a collection in the state is changed in place, unless somebody keeps a copy of it.
@Suite struct CopyingTests {
  enum Action {
    case set(Int)
    case mark
  }

  struct State: Sendable {
    var numbers: [Int]
    @Pulse var marks = 0

    /// Returns whether the collection is in other memory afterwards, so that it was copied.
    mutating func set(_ number: Int) -> Bool {
      let before = numbers.withUnsafeBufferPointer { $0.baseAddress }
      numbers[number % 1000] = number
      return numbers.withUnsafeBufferPointer { $0.baseAddress } != before
    }
  }

  final class Counting: Reactor {
    typealias Mutation = Action
    let runtime: Runtime<Action, Action, State>
    let size: Int
    /// How often the collection was copied. Not in the state, since it is not the same in both states of `.replayed`.
    let copies = Atomic(0)
    var initialState: State { State(numbers: Array(repeating: 0, count: size)) }
    init(on placement: Placement, _ snapshots: SnapshotPolicy = .automatic, size: Int = 1000) {
      runtime = Runtime(on: placement, snapshots: snapshots)
      self.size = size
    }
    func reduce(into state: inout State, mutation: Action) {
      switch mutation {
      case .set(let number): if state.set(number) { copies.add(1, ordering: .relaxed) }
      case .mark: state.marks += 1
      }
    }
  }

  /// A reactor that has reduced mutations before. With `.replayed` its second state has been made, by the only copy of the
  /// collection.
  private func started(_ snapshots: SnapshotPolicy = .automatic, size: Int = 1000) -> Counting {
    let reactor = Counting(on: .caller, snapshots, size: size)
    reactor.send(.mark)
    reactor.send(.set(1))
    reactor.send(.set(2))
    return reactor
  }

  private func copies(of reactor: Counting, in body: () -> Void) -> Int {
    let before = reactor.copies.load(ordering: .relaxed)
    body()
    return reactor.copies.load(ordering: .relaxed) - before
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
    #expect(reactor.copies.load(ordering: .relaxed) == 0)
    #expect(reactor.withCurrentState { $0.numbers[99] } == 99)
  }

  @Test
  func `the policy copied copies it once per turn`() {
    let reactor = started(.copied)
    #expect(copies(of: reactor) { for number in 0..<50 { reactor.send(.set(number)) } } == 50)
  }

  @Test(arguments: [SnapshotPolicy.automatic, .onDemand, .replayed], [1000, 1_000_000])
  func `observers of parts of the state keep no copy`(_ snapshots: SnapshotPolicy, _ size: Int) {
    let reactor = started(snapshots, size: size)
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
    #expect(reactor.counters.copiedStates == (snapshots == .replayed ? 1 : 0))
    // The counterpart: an observer that keeps the state makes each change copy; the first replayed one is of the other state.
    let kept = Record<State>()
    reactor.state.subscribe(onNext: { kept.append($0) }).disposed(by: bag)
    #expect(
      copies(of: reactor) { for number in 0..<5 { reactor.send(.set(number)) } }
        == (snapshots == .replayed ? 4 : 5))
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
