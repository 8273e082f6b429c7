import ReactorRuntime

/// A reactor that counts its requests, and replies with the count.
final class Teller: Reactor {
  enum Action: Sendable { case add(Parcel, Reply<Int>) }
  typealias Mutation = Action

  let initialState = 0
  let runtime: Runtime<Action, Action, Int>
  private let log: RequestLog
  private let keeps: Bool

  /// - Parameter keeps: Whether the log keeps the replies, for a thread to give them later.
  init(_ log: RequestLog, on placement: Placement, keeps: Bool = false) {
    runtime = Runtime(on: placement, capacity: 1, onFailure: { _ in })
    self.log = log
    self.keeps = keeps
    log.ledger.wasBorn()
  }

  deinit { log.ledger.hasDied() }

  func reduce(into state: inout Int, mutation: Action) {
    guard case .add(let parcel, let reply) = mutation else { return }
    state += 1
    log.noteProcessed(parcel.id)
    if keeps { log.keep(reply, of: parcel.id) } else { log.give(state, to: parcel.id, by: reply) }
  }
}

/// What became of requests. ``note(_:of:)`` and ``verify()`` check the guarantees that hold for every request.
final class RequestLog: @unchecked Sendable {
  // Unchecked: one thread runs at a time, and no method changes something with a point in between.
  /// Counts what is alive.
  let ledger = Ledger()
  private var asked: Set<Int> = []
  private var processed: Set<Int> = []
  private var kept: [(id: Int, reply: Reply<Int>)] = []
  /// The values that replies were given.
  private var given: [Int: Int] = [:]
  private var cancelled: Set<Int> = []
  private var isClosing = false
  private var outcomes: [Int: [Result<Int, AskError>]] = [:]

  func parcel(_ id: Int) -> Parcel { Parcel(id, in: ledger) }

  // MARK: The asker

  /// - Parameter state: The state that every thread reads after the reply.
  func ask(_ id: Int, _ body: () async throws(AskError) -> Int, check state: () -> Int) async {
    begin(id)
    do {
      let value = try await body()
      ControlledTests.check(state() >= value, "request \(id) got its reply before the state was shown")
      note(.success(value), of: id)
    } catch {
      note(.failure(error), of: id)
    }
  }

  func askWithCallback(_ id: Int, _ teller: Teller) {
    begin(id)
    teller.ask({ .add(self.parcel(id), $0) }, completion: { [self] in note($0, of: id) })
  }

  /// A request is about to be sent.
  func begin(_ id: Int) { asked.insert(id) }

  /// The task of a request is about to be cancelled.
  func willCancel(_ id: Int) { cancelled.insert(id) }

  /// The reactor is about to be closed.
  func willClose() { isClosing = true }

  /// Notes what became of a request, and checks what holds at that moment.
  func note(_ outcome: Result<Int, AskError>, of id: Int) {
    outcomes[id, default: []].append(outcome)
    switch outcome {
    case .success(let value):
      check(given[id] == value, "request \(id) got the reply \(value), which it was not given")
    case .failure(.closed): check(isClosing, "request \(id) was refused as closed by an open reactor")
    case .failure(.cancelled): check(cancelled.contains(id), "request \(id) was cancelled by nobody")
    case .failure(.dropped):
      check(processed.contains(id), "the reply of request \(id) was dropped before it was processed")
    case .failure(let error): check(false, "request \(id) failed: \(error)")
    }
  }

  // MARK: The reactor

  func noteProcessed(_ id: Int) {
    check(processed.insert(id).inserted, "request \(id) was processed twice")
  }

  /// The reply of a request is about to be given this value.
  func willGive(_ value: Int, to id: Int) { given[id] = value }

  func give(_ value: Int, to id: Int, by reply: Reply<Int>) {
    willGive(value, to: id)
    check(reply(value), "a reply that was not used is refused")
  }

  func keep(_ reply: Reply<Int>, of id: Int) { kept.append((id, reply)) }

  /// Gives the oldest reply that is kept.
  func replyToKept(_ value: Int) {
    guard !kept.isEmpty else { return }
    let (id, reply) = kept.removeFirst()
    give(value, to: id, by: reply)
    check(!reply(value), "a reply is accepted twice")
  }

  func dropKept() {
    let dropped = kept
    kept = []
    _ = consume dropped
  }

  // MARK: Rules

  /// After all threads and tasks have ended, and all references are gone.
  func verify() {
    for id in asked.sorted() {
      let results = outcomes[id, default: []]
      check(results.count == 1, "request \(id) had \(results.count) outcomes")
      // A reply that was given arrives, also beside a close, unless its asker has given up.
      guard given[id] != nil, case .failure(let error) = results[0] else { continue }
      if case .cancelled = error { continue }
      check(false, "request \(id) was given a reply, and failed: \(error)")
    }
    check(ledger.alive == 0, "\(ledger.alive) objects are alive")
  }
}
