import ReactorCore
import ReactorRuntime

/// A reactor whose mutations a ``Journal`` keeps: after a crash its state is the one that the mutations give.
///
/// ```swift
/// final class Ledger: DurableReactor {
///   static let schema = Schema("ledger")
///   let runtime: Runtime<Action, Mutation, State>
///
///   init(_ journal: Journal) { runtime = Runtime(journal: journal.entry("ledger/1")) }
///   …
/// }
///
/// let journal = try Journal(at: "ledger.journal")
/// let ledger = Ledger(journal)
/// try ledger.recover()
/// try await ledger.sendDurably(.deposit(account: 1, amount: 100))
/// ```
///
/// `reduce` must be a function of the state and the mutation: it must not read a clock, random numbers, other reactors, or
/// the order of a `Set` or `Dictionary`, which differs from process to process. `mutate` may do all of that, and passes
/// on in the mutation what `reduce` needs. `transform(state:)` is not possible.
///
/// Conform a `final class` that is not generic: then what the journal's threads run is compiled for it.
public protocol DurableReactor: Reactor where Mutation: JournalRecord {
  /// What the records mean. A constant.
  static var schema: Schema { get }

  /// Writes a state. Any thread. The default, for `Codable` states, writes JSON.
  ///
  /// - Throws: Any error if the state cannot be written: then there is no snapshot, and ``JournalConfiguration/onWarning`` is called. So
  ///   it is if what it has written cannot be decoded.
  static func encodeSnapshot(of state: borrowing State, into encoder: inout RecordEncoder) throws

  /// Reads a state. Any thread, also several at once. Each state is read as soon as it was written, while the reactor runs: so bytes
  /// that are no state must not stop the program.
  ///
  /// - Parameters:
  ///   - decoder: Has the bytes.
  ///   - version: The version of the ``schema`` that wrote it.
  /// - Throws: ``MalformedRecord`` if this is no state.
  static func decodeSnapshot(
    from decoder: inout RecordDecoder, version: UInt16
  ) throws(MalformedRecord) -> State

  /// Returns a number that is the same for equal states in every process, and for a state and what ``decodeSnapshot(from:version:)`` makes
  /// of it; nil, the default, does not compare states. Do not use `hashValue`, nor the order of a `Set` or `Dictionary`: add up what each element gives.
  ///
  /// The journal stores it from time to time, and compares it when the mutations are replayed. With each snapshot it compares that of the
  /// state and of what can be read.
  static func digest(of state: borrowing State) -> UInt64?

  /// Returns what applies records to a state. The default is right; it is a requirement only so that it is compiled for
  /// the reactor's types.
  func makeReplayer() -> RecordReplayer<State>
}

extension DurableReactor {
  @inlinable
  public static var isDurable: Bool { true }

  public static func digest(of state: borrowing State) -> UInt64? { nil }

  @inlinable
  public func willReduce(_ mutation: Mutation) {
    guard let member = runtime.journal as? JournalMember else { return }
    member.beginRun(version: Self.schema.version)
    member.writer.append { mutation.encode(into: &$0) }
    // The effects of `afterCommit` belong to the record from here on.
    if !ThreadScope.isEmpty { runtime.noteRecordOfElement() }
  }

  @inlinable
  @inline(__always)
  func apply(_ mutation: Mutation, to state: inout State) {
    if Self.reducesByValue {
      state = reduce(state: state, mutation: mutation)
    } else {
      reduce(into: &state, mutation: mutation)
    }
  }

  @inlinable
  public func makeReplayer() -> RecordReplayer<State> {
    let resume = { @Sendable [unowned self] in runtime.resumeTurns(of: self) }
    return RecordReplayer(resume) { [unowned self] (run, mark, state) throws(JournalError) in
      // One reference for all records.
      let (reactor, schema) = (self, Self.schema)
      try schema.check(run.version, of: reactor.member.entryName, at: run.first)
      var run = run
      var position = run.first
      defer { mark?.store(0) }
      do throws(MalformedRecord) {
        while let record = try run.next() {
          mark?.store(position)
          reactor.apply(try schema.decode(Mutation.self, record, run.version), to: &state)
          position &+= 1
        }
      } catch {
        throw .malformed(position: position, reason: error.reason)
      }
    }
  }
}

extension DurableReactor {
  /// What a snapshot contains.
  ///
  /// - Parameter requestLimit: How many identifiers of requests are remembered.
  /// - Throws: ``MalformedRecord`` if that is no state.
  static func decode(
    _ snapshot: JournalSnapshot, requestLimit: Int
  ) throws(MalformedRecord) -> (requests: RequestWindow, state: State) {
    guard schema.reads(snapshot.version) else { throw MalformedRecord("its version is \(snapshot.version)") }
    var decoder = RecordDecoder(snapshot.bytes.span.bytes)
    let requests = try RequestWindow(limit: requestLimit, from: &decoder)
    return (requests, try decodeSnapshot(from: &decoder, version: snapshot.version))
  }

  /// The state in a snapshot; nil if the program cannot decode it. Any thread.
  package static func state(in snapshot: JournalSnapshot) -> State? {
    try? decode(snapshot, requestLimit: 0).state
  }
}

extension DurableReactor where State: Codable {
  public static func encodeSnapshot(of state: borrowing State, into encoder: inout RecordEncoder) throws {
    try JSON.encode(copy state, into: &encoder)
  }

  public static func decodeSnapshot(
    from decoder: inout RecordDecoder, version: UInt16
  ) throws(MalformedRecord) -> State {
    try JSON.decode(State.self, from: &decoder)
  }
}

/// Applies the records of a reactor to a state. Made by ``DurableReactor/makeReplayer()``; it does not retain the reactor.
public struct RecordReplayer<State: Sendable>: Sendable {
  @usableFromInline typealias Body =
    @Sendable (_ run: RecordRun, _ mark: ReplayMark?, _ state: inout State) throws(JournalError) -> Void

  /// Continues the turns of the reactor, compiled for its type. The reactor must exist.
  @usableFromInline let resume: @Sendable () -> Void
  @usableFromInline let body: Body

  @usableFromInline
  init(_ resume: @escaping @Sendable () -> Void, _ body: @escaping Body) {
    self.resume = resume
    self.body = body
  }
}

/// Which threads see a state that is not durable yet.
public enum Visibility: Sendable, Hashable {
  /// Only the reactor's own turns, `turnEnded` if the reactor is `TurnObserving`, and ``DurableReactor/latestState``.
  /// What other threads read or observe is durable, and so is what a reply says that is used in the reactor's own
  /// turn: no crash takes it back. The reactor has a second state for that.
  ///
  /// A stream that was taken from `state` inside of the reactor's own turn, or in its transforms, is that of the latest states, also after the
  /// turn: subscribe elsewhere in order to tell others.
  ///
  /// A reply that `mutate` sends on is not held: a reactor without a journal that uses it in a turn on another thread, or a task, tells
  /// at once what it was given. In the turn of another durable reactor inside of this one's turn, a reply waits for the records of that
  /// reactor only.
  case durable
  /// Everybody. Only ``DurableReactor/sendDurably(_:id:)`` and `afterCommit` wait until the action is durable; replies do not. So after a
  /// crash, an action of another reactor may be there whose cause, an earlier one of this reactor, is not.
  case latest
}

extension Runtime where Mutation: JournalRecord {
  /// Makes the runtime of a ``DurableReactor``. Its start waits for an earlier reactor with the entry: see ``Journal/entry(_:)``.
  ///
  /// - Parameters:
  ///   - placement: As for other reactors, and so are the parameters that are not listed here.
  ///   - journal: Where the mutations are kept.
  ///   - visibility: Which threads see a state that is not durable yet.
  ///   - snapshots: How the state is shown to readers on other threads. That of the durable state is the same, but for ``SnapshotPolicy``'s
  ///     `replayed`, which is `copied` there. With `onDemand`, a body of `withCurrentState` holds the whole journal up.
  public convenience init(
    on placement: Placement = .caller, journal entry: JournalEntry, visibility: Visibility = .durable,
    snapshots: SnapshotPolicy = .automatic, capacity: Int = 4096, overflow policy: OverflowPolicy = .block,
    reentrantCapacity: Int = 65_536,
    onFailure: @escaping @Sendable (Failure) -> Void = { Hooks.defaultFailureHandler($0) }
  ) {
    self.init(
      on: placement, snapshots: snapshots, capacity: capacity, overflow: policy,
      reentrantCapacity: reentrantCapacity, onFailure: onFailure)
    connect(to: JournalMember(entry.journal, entry, visibility, snapshots))
  }
}
