import ReactorCore
import ReactorRuntime

/// A state of some size, with the usual totals in it.
protocol SizedState: Sendable {
  init()
  mutating func reduce(_ item: Item)
  /// Nil if its parts contradict each other.
  var totals: Totals? { get }
}

/// 16 bytes.
struct SmallState: SizedState {
  private var count = 0
  private var sum: UInt64 = 0

  @inline(__always)
  mutating func reduce(_ item: Item) {
    count &+= 1
    sum &+= item.value
  }

  var totals: Totals? { Totals(count: count, sum: sum) }
}

/// 16 bytes and as many words, of which an action changes 24 bytes.
struct WideState<let words: Int>: SizedState {
  private var small = SmallState()
  private var sums = InlineArray<words, UInt64>(repeating: 0)

  @inline(__always)
  mutating func reduce(_ item: Item) {
    small.reduce(item)
    sums[Int(item.value % UInt64(words))] &+= item.value
  }

  var totals: Totals? { small.totals(ifSum: sums.indices.reduce(0) { $0 &+ sums[$1] }) }
}

/// 24 bytes, one of whose fields is an array of 512 bytes, of which an action changes 8.
struct ArrayState: SizedState {
  private var small = SmallState()
  private var sums = [UInt64](repeating: 0, count: 64)

  @inline(__always)
  mutating func reduce(_ item: Item) {
    small.reduce(item)
    sums[Int(item.value % 64)] &+= item.value
  }

  var totals: Totals? { small.totals(ifSum: sums.reduce(0, &+)) }
}

extension SmallState {
  fileprivate func totals(ifSum other: UInt64) -> Totals? { sum == other ? totals : nil }
}

extension Totals? {
  func agreed() throws -> Totals {
    guard let self else { throw SubjectFailure("the parts of the state do not agree") }
    return self
  }
}

/// A reactor on the sender's thread.
final class SizedReactor<Sized: SizedState, Way: ElementReactorWay>: Reactor {
  let initialState = Sized()
  let runtime: Runtime<Item, Item, Sized> = Way.runtime(on: .caller)

  func reduce(into state: inout Sized, mutation: Item) { state.reduce(mutation) }
}

/// It gets one action after the other, so it publishes its state after each.
final class SizedReactorSubject<State: SizedState, Way: ElementReactorWay>: FanInSubject {
  private let reactor = SizedReactor<State, Way>()

  init(_ setup: SubjectSetup) {}

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values { reactor.send(Item(producer: 0, value: value)) }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals { try reactor.currentState.totals.agreed() }
}

/// It gets its actions by ``Reactor/send(contentsOf:)``, and publishes its state after as many as each call has.
final class SizedRunsSubject<State: SizedState, Length: RunLength>: FanInSubject {
  private let reactor = SizedReactor<State, OnCaller>()

  init(_ setup: SubjectSetup) {}

  func produce(producer: Int, values: Range<UInt64>) {
    // One array for all calls, so that none is allocated for each.
    var run: [Item] = []
    run.reserveCapacity(Length.count)
    for value in values {
      run.append(Item(producer: 0, value: value))
      if run.count == Length.count || value + 1 == values.upperBound {
        reactor.send(contentsOf: run)
        run.removeAll(keepingCapacity: true)
      }
    }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals { try reactor.currentState.totals.agreed() }
}

/// How many actions a call of ``Reactor/send(contentsOf:)`` has.
protocol RunLength {
  static var count: Int { get }
}

enum RunOfOne: RunLength {
  static var count: Int { 1 }
}

/// As many as a turn has at most.
enum RunOfTurn: RunLength {
  static var count: Int { 1024 }
}

/// A reactor with long turns: each action of a chunk, except the last, sends the next one.
final class LongTurnsSubject<Sized: SizedState>: FanInSubject {
  final class ChainReactor: Reactor {
    /// A value, and the end of the values that follow it.
    struct Link: Sendable {
      var value: UInt64
      var end: UInt64
    }

    let initialState = Sized()
    let runtime = Runtime<Link, Item, Sized>(on: .caller)

    func mutate(action: Link) -> Observable<Item> {
      if action.value + 1 < action.end { send(Link(value: action.value + 1, end: action.end)) }
      return .just(Item(producer: 0, value: action.value))
    }

    func reduce(into state: inout Sized, mutation: Item) { state.reduce(mutation) }
  }

  let reactor = ChainReactor()

  init(_ setup: SubjectSetup) {}

  func produce(producer: Int, values: Range<UInt64>) {
    reactor.send(ChainReactor.Link(value: values.lowerBound, end: values.upperBound))
  }

  func awaitTotals(_ quota: Quota) throws -> Totals { try reactor.currentState.totals.agreed() }
}
