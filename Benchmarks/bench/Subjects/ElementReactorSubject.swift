import BenchmarkSupport
import CBenchmarkLimits
import Glibc
import ReactorCore
import ReactorRuntime
import Synchronization

/// A dictionary, and two fields.
struct TableState: ElementState {
  private var table: [Int: UInt64]
  private(set) var changes: UInt64 = 0
  private(set) var mark: UInt64 = 0

  init(count: Int) {
    table = Dictionary(uniqueKeysWithValues: (0..<count).map { ($0, 0) })
  }

  @inline(__always)
  mutating func set(_ key: Int, to value: UInt64) {
    changes &+= 1
    table[key] = value
    mark = Self.mark(after: changes)
  }

  @inline(__always)
  func value(of key: Int) -> UInt64 { table[key, default: .max] }
}

/// An array, and two fields.
struct LongArrayState: ElementState {
  private var elements: [UInt64]
  private(set) var changes: UInt64 = 0
  private(set) var mark: UInt64 = 0

  init(count: Int) { elements = Array(repeating: 0, count: count) }

  @inline(__always)
  mutating func set(_ key: Int, to value: UInt64) {
    changes &+= 1
    elements[key] = value
    mark = Self.mark(after: changes)
  }

  @inline(__always)
  func value(of key: Int) -> UInt64 { elements[key] }
}

/// 64 KiB without a collection.
struct InlineState: ElementState {
  static let count = 8190

  private var elements = InlineArray<8190, UInt64>(repeating: 0)
  private(set) var changes: UInt64 = 0
  private(set) var mark: UInt64 = 0

  init(count: Int) {}

  @inline(__always)
  mutating func set(_ key: Int, to value: UInt64) {
    changes &+= 1
    elements[key] = value
    mark = Self.mark(after: changes)
  }

  @inline(__always)
  func value(of key: Int) -> UInt64 { elements[key] }
}

/// A reactor with such a state, on the sender's thread or on a loop.
final class ElementReactorSubject<State: ElementState, Way: ElementReactorWay>: ElementSubject {
  private struct Change: Sendable {
    var key: Int
    var value: UInt64
  }

  private final class ElementReactor: Reactor {
    typealias Action = Change
    typealias Mutation = Change

    let runtime: Runtime<Change, Change, State>
    private let count: Int

    var initialState: State { State(count: count) }

    init(count: Int, _ runtime: Runtime<Change, Change, State>) {
      self.count = count
      self.runtime = runtime
    }

    func reduce(into state: inout State, mutation: Change) { state.set(mutation.key, to: mutation.value) }
  }

  private let reactor: ElementReactor
  private let loop: Loop?
  private let sent = Atomic<UInt64>(0)

  init(count: Int) throws {
    loop = Way.usesLoop ? try Loop() : nil
    reactor = ElementReactor(count: count, Way.runtime(on: loop.map { .loop($0) } ?? .caller))
  }

  deinit { loop?.shutdown() }

  func change(_ times: Int, _ keys: inout KeySequence) {
    var sent = sent.load(ordering: .relaxed)
    for _ in 0..<times {
      sent &+= 1
      reactor.send(Change(key: keys.next(), value: sent))
    }
    self.sent.store(sent, ordering: .relaxed)
  }

  func finishChanges(until deadline: UInt64) throws {
    let sent = sent.load(ordering: .relaxed)
    var idle = IdleWait()
    func wait() throws {
      guard !idle.wait() || bl_now_ns() < deadline else {
        throw Stalled("a reactor has not made its \(sent) changes")
      }
    }
    // Not by the state alone: a thread that reads it without a pause takes turns with the loop, and is measured elsewhere.
    while reactor.counters.waiting > 0 { try wait() }
    while reactor.withCurrentState({ $0.changes }) < sent { try wait() }
  }

  @inline(__always)
  func read(_ key: Int, _ body: (ElementNote) -> Void) {
    body(
      reactor.withCurrentState {
        ElementNote(changes: $0.changes, mark: $0.mark, value: $0.value(of: key))
      })
  }
}

/// Where the reactor's turns run, and how its state is shown.
protocol ElementReactorWay: Sendable {
  static var usesLoop: Bool { get }
  static func runtime<Action, Mutation, State>(on placement: Placement) -> Runtime<Action, Mutation, State>
}

/// With the default policy.
enum OnCaller: ElementReactorWay {
  static var usesLoop: Bool { false }
  static func runtime<Action, Mutation, State>(on placement: Placement) -> Runtime<Action, Mutation, State> {
    Runtime(on: placement)
  }
}

enum OnLoop: ElementReactorWay {
  static var usesLoop: Bool { true }
  static func runtime<Action, Mutation, State>(on placement: Placement) -> Runtime<Action, Mutation, State> {
    Runtime(on: placement)
  }
}

enum CopiedOnCaller: ElementReactorWay {
  static var usesLoop: Bool { false }
  static func runtime<Action, Mutation, State>(on placement: Placement) -> Runtime<Action, Mutation, State> {
    Runtime(on: placement, snapshots: .copied)
  }
}

enum OnDemandOnCaller: ElementReactorWay {
  static var usesLoop: Bool { false }
  static func runtime<Action, Mutation, State>(on placement: Placement) -> Runtime<Action, Mutation, State> {
    Runtime(on: placement, snapshots: .onDemand)
  }
}

enum ReplayedOnCaller: ElementReactorWay {
  static var usesLoop: Bool { false }
  static func runtime<Action, Mutation, State>(on placement: Placement) -> Runtime<Action, Mutation, State> {
    Runtime(on: placement, snapshots: .replayed)
  }
}

enum ReplayedOnLoop: ElementReactorWay {
  static var usesLoop: Bool { true }
  static func runtime<Action, Mutation, State>(on placement: Placement) -> Runtime<Action, Mutation, State> {
    Runtime(on: placement, snapshots: .replayed)
  }
}
