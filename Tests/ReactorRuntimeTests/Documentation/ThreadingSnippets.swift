// swift-format-ignore-file: OneCasePerLine

import Dispatch
import Glibc
import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

// The code of the article "Threads and placements". Keep both in step.

/// Requests that a test answers on a thread of its choice.
private final class Server: Sendable {
  let answers = PublishSubject<String>()
  func search(_ query: String) -> Observable<String> {
    answers.asObservable().filter { $0.hasPrefix(query) }
  }
}

private final class Search: Reactor {
  enum Action: Sendable { case setQuery(String) }
  enum Mutation: Sendable { case setQuery(String), setResult(String) }
  struct State: Sendable { var query = "", results: [String] = [] }

  let initialState = State()
  let runtime = Runtime<Action, Mutation, State>()
  private let server: Server

  init(_ server: Server) { self.server = server }

  func mutate(action: Action) -> Observable<Mutation> {
    switch action {
    case .setQuery(let query):
      .concat(
        .just(.setQuery(query)),
        server.search(query)
          .take(until: self.action)
          .map { .setResult($0) })
    }
  }

  func reduce(into state: inout State, mutation: Mutation) {
    switch mutation {
    case .setQuery(let query): (state.query, state.results) = (query, [])
    case .setResult(let result): state.results.append(result)
    }
  }
}

private final class Ticker: Reactor {
  typealias Action = Int
  let initialState = 0
  let runtime: Runtime<Int, Int, Int>
  let places = Record<Bool>()
  private let loop: Loop
  private let source: Observable<Int>

  init(on loop: Loop, _ source: Observable<Int>) {
    self.loop = loop
    self.source = source
    runtime = Runtime(on: .loop(loop))
  }

  func mutate(action: Int) -> Observable<Int> { source }

  func reduce(into state: inout Int, mutation: Int) {
    places.append(loop.isCurrent)
    state += mutation
  }
}

private struct Unreachable: Error {}

private final class Client: Reactor {
  enum Action: Sendable { case load, loadOrSayWhy }
  enum Mutation: Sendable { case set(String) }
  let initialState = ""
  let runtime: Runtime<Action, Mutation, String>
  private let answer: Observable<String> = .error(Unreachable())

  init(reportingTo report: @escaping @Sendable (Failure) -> Void) { runtime = Runtime(onFailure: report) }

  func mutate(action: Action) -> Observable<Mutation> {
    switch action {
    case .load: answer.map { .set($0) }
    case .loadOrSayWhy: answer.map { .set($0) }.catch { .just(.set("\($0)")) }
    }
  }

  func reduce(into state: inout String, mutation: Mutation) {
    switch mutation {
    case .set(let text): state = text
    }
  }
}

private final class Ledger: Reactor {
  typealias Action = Int
  let initialState: [Int] = []
  let runtime: Runtime<Int, Int, [Int]>

  init(_ runtime: Runtime<Int, Int, [Int]>) { self.runtime = runtime }

  func reduce(into state: inout [Int], mutation: Int) { state.append(mutation) }
}

/// What is confined to a loop: not `Sendable`.
private final class Connection {
  let socket: Int32
  let received: Record<UInt8>

  init(_ socket: Int32, _ received: Record<UInt8>) { (self.socket, self.received) = (socket, received) }

  /// Returns false at the end of the stream.
  func receive() -> Bool {
    var byte: UInt8 = 0
    let isMore = read(socket, &byte, 1) == 1
    received.append(isMore ? byte : 0)
    return isMore
  }
}

private struct Session: Sendable { typealias ID = Int }

private final class Sessions: Reactor {
  enum Action: Sendable { case request(Session.ID), expired(Session.ID) }
  enum Mutation: Sendable { case seen(Session.ID), removed(Session.ID) }

  let initialState: Set<Session.ID> = []
  let runtime: Runtime<Action, Mutation, Set<Session.ID>>
  let timers = KeyedTimers<Session.ID, Action> { .expired($0) }

  init(on loop: Loop) { runtime = Runtime(on: .loop(loop)) }

  func mutate(action: Action) -> Observable<Mutation> {
    switch action {
    case .request(let id):
      timers.set(id, after: .milliseconds(30), in: self)  // begins anew with each request
      return .just(.seen(id))
    case .expired(let id): return .just(.removed(id))
    }
  }

  func reduce(into state: inout Set<Session.ID>, mutation: Mutation) {
    switch mutation {
    case .seen(let id): state.insert(id)
    case .removed(let id): state.remove(id)
    }
  }
}

private enum Trace {
  @TaskLocal static var context = "none"
}

private final class Order: Reactor {
  enum Action: Sendable { case ship, total(Reply<String>) }
  let initialState: [String] = []
  let runtime: Runtime<Action, String, [String]>

  init(on loop: Loop) { runtime = Runtime(on: .loop(loop)) }

  func mutate(action: Action) -> Observable<String> {
    if case .total(let reply) = action { reply(currentState.joined() + Trace.context) }
    return .just(Trace.context)
  }

  func reduce(into state: inout [String], mutation: String) { state.append(mutation) }
}

/// Runs the main thread until a signal arrives. It is only compiled here; MainLoopTests runs such code.
private func service() throws -> MainLoop.Ending {
  let screen = Ledger(Runtime(on: .main))
  let ending = try MainLoop.run()  // .stopped, or .signal(SIGTERM)
  screen.close()
  return ending
}

@Suite struct ThreadingSnippets {
  @Test func `loops and groups run reactors, timers and jobs`() throws {
    let loop = try Loop(name: "orders", waiting: .parking)
    let group = try LoopGroup(name: "accounts")  // a loop per processor
    let book = Ledger(Runtime(on: .loop(loop), capacity: 16_384))
    let account = Ledger(Runtime(on: .group(group, key: 4711)))  // the same key, the same loop
    try loop.schedule(after: .milliseconds(5)) { book.send(1) }  // returns a Disposable that cancels it
    try loop.execute { account.send(2) }
    #expect(Threads.yield { book.currentState == [1] && account.currentState == [2] })
    // Later, when all of this is done:
    try Shutdown.close([loop, group], before: .now + .seconds(10))
    #expect(book.isClosed && account.isClosed)
  }

  @Test func `a loop watches a socket`() throws {
    let loop = try Loop()
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    let (socket, received) = (ends[0], Record<UInt8>())
    let connection = LoopBound(Connection(socket, received), to: loop)
    let watch = try loop.watch(socket, for: .readable) { watch, ready in
      if !connection.value.receive() { watch.dispose() }
    }
    try #require(write(ends[1], "ab", 2) == 2)
    close(ends[1])
    #expect(Threads.yield { received.elements.count >= 3 })
    loop.shutdown()
    // Only once at the end, although the descriptor stays readable: the watch is disposed of.
    #expect(received.elements == Array("ab".utf8) + [0])
    watch.dispose()
    close(socket)
  }

  @Test func `a session expires by a timer of its key`() async throws {
    let loop = try Loop()
    let sessions = Sessions(on: loop)
    let states = Recorder(sessions.state)
    sessions.send(.request(1))
    #expect(await states.wait(forCount: 3))
    #expect(states.difference(from: [[], [1], []]) == nil)
    loop.shutdown()
  }

  @Test func `a foreign loop that takes closures hosts a loop`() throws {
    let queue = DispatchQueue(label: "foreign")
    let mark = DispatchSpecificKey<Void>()
    queue.setSpecific(key: mark, value: ())
    let hosted = try HostedLoop(
      onWake: { hosted in queue.async { hosted.run() } },
      isHost: { DispatchQueue.getSpecific(key: mark) != nil })
    let book = Ledger(Runtime(on: hosted.placement))
    book.send(1)
    #expect(Threads.yield { book.currentState == [1] })
  }

  @Test func `an action captures a task-local`() async throws {
    let loop = try Loop()
    let order = Order(on: loop)
    let total = try await Trace.$context.withValue("here") {
      order.send(.ship, capturing: Trace.$context)
      let total = try await order.ask(capturing: Trace.$context) { .total($0) }
      return total
    }
    #expect(total == "herehere")
    loop.shutdown()
    #expect(order.currentState == ["here", "here"])
  }

  @Test func `the four ways to send behave as documented`() async throws {
    let prices = Ledger(Runtime(capacity: 1024, overflow: .dropOldest))
    prices.send(1)  // follows the policy
    try prices.trySend(2)  // does not wait: throws SendError.full
    try prices.send(3, before: .now + .milliseconds(5))  // waits until the deadline
    try await prices.sendSuspending(4)  // suspends the task; ends when the task is cancelled
    #expect(prices.currentState == [1, 2, 3, 4])
  }

  /// More than the mailboxes hold, of which the slower reactor has room for one.
  @Test func `a reactor that asks the next one holds its producer back`() async throws {
    let loop = try Loop()
    let tape = Tape(on: loop)
    let book = Book(tape)
    for order in 0..<20 { try await book.ask { .order(order, $0) } }
    #expect(book.currentState == Array(0..<20))
    #expect(tape.currentState == Array(0..<20))
    #expect(tape.counters.waiting == 0)
    loop.shutdown()
  }

  @Test func `closing a reactor can be awaited`() async throws {
    let account = Ledger(Runtime(onFailure: { _ in }))
    account.send(1)
    account.close()  // or .close(.discard)
    await account.waitUntilEnded()
    #expect(throws: SendError.closed) { try account.trySend(2) }
    #expect(account.currentState == [1])
  }

  @Test func `several parts end together before a deadline`() throws {
    let loop = try Loop(name: "orders")
    let group = try LoopGroup(name: "accounts", count: 1)
    let book = Ledger(Runtime(on: .loop(loop)))
    book.send(1)
    do {
      try Shutdown.close([book.closer(), group, loop], before: .now + .seconds(10))
    } catch .unfinished(let parts) {
      for part in parts { Issue.record("\(part)") }
    }
    #expect(book.currentState == [1])
  }

  @Test
  func `mutations that a stream emits on another thread are reduced by the owner`() throws {
    let source = PublishSubject<Int>()
    let loop = try Loop()
    let ticker = Ticker(on: loop, source.asObservable())
    ticker.send(0)
    #expect(Threads.yield { source.hasObservers })
    #expect(Threads.run(4) { _ in for _ in 0..<100 { source.onNext(1) } })
    #expect(Threads.yield { ticker.currentState == 400 })
    loop.shutdown()
    #expect(ticker.places.elements == Array(repeating: true, count: 400))
  }

  @Test func `a newer request ends the older one`() {
    let server = Server()
    let search = Search(server)
    search.action.onNext(.setQuery("a"))
    server.answers.onNext("a1")
    #expect(search.currentState.results == ["a1"])
    search.action.onNext(.setQuery("b"))
    server.answers.onNext("a2")
    server.answers.onNext("b1")
    #expect(search.currentState.query == "b")
    #expect(search.currentState.results == ["b1"])
  }

  @Test func `a failing stream does not end others, and is reported with its action`() {
    let failures = Record<Failure>()
    let client = Client { failure in failures.append(failure) }
    client.action.onNext(.load)
    #expect(failures.elements.count == 1)
    if case .mutate(let error)? = failures.elements.first?.cause {
      #expect(error is Unreachable)
    } else {
      Issue.record("not the failure of a stream")
    }
    client.action.onNext(.loadOrSayWhy)
    #expect(client.currentState == "Unreachable()")
    #expect(failures.elements.count == 1)
  }

  @Test func `a subscription ends with its bag`() {
    let seen = Record<String>()
    let search = Search(Server())
    do {
      let bag = DisposeBag()
      search.state.map(\.query).subscribe(onNext: { seen.append($0) }).disposed(by: bag)
      search.action.onNext(.setQuery("a"))
    }
    search.action.onNext(.setQuery("b"))
    #expect(seen.elements == ["", "a"])
  }
}

private final class Tape: Reactor {
  enum Action: Sendable { case print(Int, Reply<Void>) }
  let initialState: [Int] = []
  let runtime: Runtime<Action, Action, [Int]>

  init(on loop: Loop) { runtime = Runtime(on: .loop(loop), capacity: 1, reentrantCapacity: 1) }

  func reduce(into state: inout [Int], mutation: Action) {
    guard case .print(let order, let reply) = mutation else { return }
    state.append(order)
    reply(())
  }
}

private final class Book: Reactor {
  enum Action: Sendable { case order(Int, Reply<Void>), settled(Int, Reply<Void>) }
  let initialState: [Int] = []
  let runtime = Runtime<Action, Action, [Int]>()
  let tape: Tape
  init(_ tape: Tape) { self.tape = tape }

  func mutate(action: Action) -> Observable<Action> {
    guard case .order(let order, let reply) = action else { return .just(action) }
    return .task { [tape] in
      try await tape.ask { .print(order, $0) }
      return .settled(order, reply)
    }
  }
  func reduce(into state: inout [Int], mutation: Action) {
    guard case .settled(let order, let reply) = mutation else { return }
    state.append(order)
    reply(())
  }
}
