import ControlledScheduler
import ReactorRuntime

/// An action, which counts in its ledger as long as it is alive.
final class Parcel: Sendable {
  let id: Int
  private let ledger: Ledger

  init(_ id: Int, in ledger: Ledger) {
    self.id = id
    self.ledger = ledger
    ledger.wasBorn()
  }

  deinit { ledger.hasDied() }
}

/// The reactor of a scenario.
final class Subject: Reactor {
  typealias Action = Parcel
  typealias Mutation = Parcel
  struct State: Sendable {
    var last: Parcel?
    var count = 0
    private var twice = 0

    mutating func add(_ parcel: Parcel) {
      last = parcel
      count += 1
      ctl_point("changes the state", nil, ctl_place())
      twice += 2
    }

    /// Checks that this is a whole state.
    func check() {
      let seen = count
      ctl_point("reads the state", nil, ctl_place())
      ControlledTests.check(twice == 2 * seen && count == seen, "a torn state: \(count) and \(twice)")
    }
  }

  let initialState = State()
  let runtime: Runtime<Parcel, Parcel, State>
  private let ledger: Ledger
  private let notesEnd: Bool
  /// A replayed reduce is called twice for each mutation.
  private let isReplayed: Bool
  private let onMutate: @Sendable (Subject, Parcel) -> Void

  /// - Parameter notesEnd: Whether the ledger is told when the reactor disposes of its streams: action 0 starts one that
  ///   has no end.
  init(
    _ ledger: Ledger, on placement: Placement = .caller, snapshots: SnapshotPolicy = .automatic,
    capacity: Int = 2, overflow: OverflowPolicy = .block,
    reentrantCapacity: Int = 65_536, notesEnd: Bool = false,
    onMutate: @escaping @Sendable (Subject, Parcel) -> Void = { _, _ in }
  ) {
    runtime = Runtime(
      on: placement, snapshots: snapshots, capacity: capacity, overflow: overflow,
      reentrantCapacity: reentrantCapacity,
      onFailure: { [ledger] in ledger.report($0) })
    self.ledger = ledger
    ledger.note(overflow, capacity: capacity)
    self.notesEnd = notesEnd
    isReplayed = snapshots == .replayed
    self.onMutate = onMutate
    ledger.wasBorn()
  }

  deinit {
    ledger.wasFreed()
    ledger.hasDied()
  }

  func mutate(action: Parcel) -> Observable<Parcel> {
    ledger.beginMutate(action.id)
    // Others may send meanwhile.
    ctl_point("is in mutate", nil, ctl_place())
    onMutate(self, action)
    ledger.endMutate()
    guard notesEnd, action.id == 0 else { return .just(action) }
    return .create { [ledger] observer in
      observer.onNext(action)
      return Disposables.create { ledger.hasEnded() }
    }
  }

  func reduce(into state: inout State, mutation: Parcel) {
    if !isReplayed || ledger.reduced[mutation.id] == nil { ledger.reduce(mutation.id) }
    state.add(mutation)
  }
}

/// A reactor on `.caller` each of whose turns sends two actions to a subject.
final class Forwarder: Reactor {
  typealias Action = Int
  struct State: Sendable {}

  let initialState = State()
  let runtime = Runtime<Int, Never, State>()
  private let subject: Subject
  private let ledger: Ledger

  init(to subject: Subject, _ ledger: Ledger) {
    self.subject = subject
    self.ledger = ledger
  }

  func mutate(action: Int) -> Observable<Never> {
    for number in 0..<2 { ledger.send(action + number) { subject.send($0) } }
    return .empty()
  }
}

/// A reference that one thread takes away while others may read it.
final class Holder<Object: AnyObject & Sendable>: @unchecked Sendable {
  // Unchecked: one thread runs at a time.
  var object: Object?
}

/// A weak reference that several threads read.
final class WeakHolder<Object: AnyObject & Sendable>: @unchecked Sendable {
  // Unchecked: one thread runs at a time.
  weak var object: Object?
}
