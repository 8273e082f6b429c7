#if Logging
  import Logging
  import ReactorRuntime
  import TestSupport
  import Testing

  private struct Line: Sendable {
    let level: Logger.Level
    let message: String
    let metadata: Logger.Metadata
  }

  private struct Lines: LogHandler {
    let record: Record<Line>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      record.append(Line(level: event.level, message: "\(event.message)", metadata: event.metadata ?? [:]))
    }
  }

  private struct Unreachable: Error {}

  private enum Command: Sendable {
    case login(password: String)
    case logOut
  }

  private enum Described: Sendable, CustomStringConvertible {
    case login(password: String)
    case logOut
    var description: String { "secret" }
  }

  private final class Client: Reactor {
    typealias Action = Int
    typealias State = Int
    let initialState = 0
    let runtime: Runtime<Int, Int, Int>
    let expectedThread: ExpectedThread? = ExpectedThread("another thread") { false }
    init(on placement: Placement, onFailure: (@Sendable (Failure) -> Void)? = nil) {
      runtime = onFailure.map { Runtime(on: placement, onFailure: $0) } ?? Runtime(on: placement)
    }
    func mutate(action: Int) -> Observable<Int> { action < 0 ? .error(Unreachable()) : .just(action) }
    func reduce(into state: inout Int, mutation: Int) { state = mutation }
  }

  /// The tests run one after the other, because the hooks belong to the process.
  @Suite(.serialized) struct LoggingTests {
    private let record = Record<Line>()
    private var logger: Logger { Logger(label: "test") { [record] _ in Lines(record: record) } }

    @Test func `a failure is logged with its reactor, its cause and its action`() throws {
      let reactor = Client(on: .caller, onFailure: Failure.log(to: logger, describing: { "\($0)" }))
      reactor.send(-7)
      let line = try #require(record.elements.first)
      #expect(line.level == .error)
      #expect(line.message == "a stream that mutate returned has failed")
      #expect(line.metadata["reactor"] == "\(String(reflecting: Client.self))")
      #expect(line.metadata["cause"] == "mutate(\(String(reflecting: Unreachable())))")
      #expect(line.metadata["action"] == "-7")
    }

    @Test func `of an action only its case is logged by default`() throws {
      let report = Failure.log(to: logger)
      for action: any Sendable in [
        Command.login(password: "secret"), Command.logOut, "secret", Described.login(password: "secret"),
        Described.logOut,
      ] {
        report(Failure(reactor: "Sessions", cause: .actionNotDelivered(.full), action: action))
      }
      #expect(
        record.elements.map { $0.metadata["action"] } == [
          "login", "logOut", "String", "Described", "Described",
        ])
    }

    /// As of a session that is gone within the second.
    @Test func `failures are counted also if their handler is gone`() throws {
      for _ in 0..<2 {
        let report = Failure.log(to: logger)
        for _ in 0..<15 { report(Failure(reactor: "Sessions", cause: .actionNotDelivered(.full), action: 1)) }
      }
      #expect(record.elements.count == 20)
      #expect(Threads.yield { record.elements.suffix(2).map { $0.metadata["count"] } == ["5", "5"] })
    }

    @Test func `some of many failures are logged and the others are counted`() throws {
      let loop = try Loop()
      let reactor = Client(on: .loop(loop), onFailure: Failure.log(to: logger))
      loop.shutdown()
      for action in 0..<25 { reactor.send(action) }
      #expect(record.elements.count >= 10)
      #expect(
        Threads.yield {
          let counted = record.elements.compactMap { $0.metadata["count"] }.map { Int("\($0)") ?? 0 }
          return record.elements.count - counted.count + counted.reduce(0, +) == 25
        })
      #expect(record.elements.count < 25)
    }

    @Test func `failures and errors of streams and warnings that have no other handler are logged`() throws {
      let before = (Hooks.defaultFailureHandler, Hooks.defaultErrorHandler, Hooks.warningHandler)
      defer { (Hooks.defaultFailureHandler, Hooks.defaultErrorHandler, Hooks.warningHandler) = before }
      Hooks.log(to: logger)
      Client(on: .caller).send(-1)
      _ = Observable<Int>.error(Unreachable()).subscribe(onNext: { _ in })
      let lines = record.elements
      #expect(
        lines.filter { $0.level == .error }.map(\.message) == [
          "a stream that mutate returned has failed", "a stream failed, and nothing handled its error",
        ])
      if !Build.isOptimized {
        let warning = try #require(lines.first { $0.level == .warning })
        #expect(warning.metadata["kind"] == "unexpectedThread")
        #expect(warning.message.contains("received an action on another thread than another thread"))
      }
    }
  }
#endif
