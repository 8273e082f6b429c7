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
    log.processed.insert(parcel.id)
    if keeps { log.kept.append(reply) } else { reply(state) }
  }
}

/// What became of requests.
final class RequestLog: @unchecked Sendable {
  // Unchecked: one thread runs at a time, and no method changes something with a point in between.
  /// Counts what is alive.
  let ledger = Ledger()
  var processed: Set<Int> = []
  var kept: [Reply<Int>] = []
  var isClosing = false
  private var asked: Set<Int> = []
  private var outcomes: [Int: [Result<Int, AskError>]] = [:]

  func parcel(_ id: Int) -> Parcel { Parcel(id, in: ledger) }

  /// - Parameter state: The state that every thread reads after the reply.
  func ask(_ id: Int, _ body: () async throws(AskError) -> Int, check state: () -> Int) async {
    asked.insert(id)
    do {
      let value = try await body()
      ControlledTests.check(state() >= value, "request \(id) got its reply before the state was shown")
      note(.success(value), of: id)
    } catch {
      note(.failure(error), of: id)
    }
  }

  func askWithCallback(_ id: Int, _ teller: Teller) {
    asked.insert(id)
    teller.ask({ .add(self.parcel(id), $0) }, completion: { [self] in note($0, of: id) })
  }

  private func note(_ outcome: Result<Int, AskError>, of id: Int) {
    outcomes[id, default: []].append(outcome)
  }

  /// Gives the oldest reply that is kept.
  func replyToKept(_ value: Int) {
    guard !kept.isEmpty else { return }
    let reply = kept.removeFirst()
    check(reply(value), "a reply that was not used is refused")
    check(!reply(value), "a reply is accepted twice")
  }

  func dropKept() {
    let dropped = kept
    kept = []
    _ = consume dropped
  }

  /// After all threads and tasks have ended, and all references are gone.
  func verify() {
    for id in asked {
      let results = outcomes[id, default: []]
      check(results.count == 1, "request \(id) had \(results.count) outcomes")
      switch results[0] {
      case .success: check(processed.contains(id), "request \(id) has a reply, and was not processed")
      case .failure(.closed): check(isClosing, "request \(id) was refused as closed by an open reactor")
      case .failure(.cancelled): check(id == 0, "request \(id) was cancelled by nobody")
      case .failure(.dropped):
        // With the closure form, so does a request that a discard drops.
        check(
          processed.contains(id) || isClosing,
          "the reply of request \(id) was dropped before it was processed")
      case .failure(let error): check(false, "request \(id) failed: \(error)")
      }
    }
    check(ledger.alive == 0, "\(ledger.alive) objects are alive")
  }
}
