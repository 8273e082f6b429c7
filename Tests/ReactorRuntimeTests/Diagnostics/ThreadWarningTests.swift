#if DEBUG
  import Dispatch
  import ReactorCore
  import TestSupport
  import Testing

  @testable import ReactorRuntime

  /// Tests of warnings about threads. Each warning is provoked once, and its absence is tested once.
  @Suite struct ThreadWarningTests {
    @Test func `calling mutate on an unexpected thread causes a warning`() throws {
      enum Sent {}
      let loop = try Loop()
      let hooked = HookedWarnings(about: Watched<Sent>.self)
      let reactor = Watched<Sent>(expecting: .loop(loop))
      #expect(run(on: loop) { reactor.send(1) })
      #expect(hooked.kinds == [])
      reactor.send(2)
      #expect(hooked.kinds == [.unexpectedThread])
      #expect(reactor.currentState == [1, 2])
      loop.shutdown()
    }

    @Test func `an action through the subject or past observers causes the same warning`() throws {
      enum ByAction {}
      enum Observed {}
      let loop = try Loop()
      let byAction = HookedWarnings(about: Watched<ByAction>.self)
      let first = Watched<ByAction>(expecting: .loop(loop))
      #expect(run(on: loop) { first.action.onNext(1) })
      #expect(byAction.kinds == [])
      first.action.onNext(1)
      #expect(byAction.kinds == [.unexpectedThread])

      let observed = HookedWarnings(about: Watched<Observed>.self)
      let second = Watched<Observed>(expecting: .loop(loop))
      #expect(
        run(on: loop) {
          _ = second.action.subscribe()
          second.send(1)
        })
      #expect(observed.kinds == [])
      second.send(1)
      #expect(observed.kinds == [.unexpectedThread])
      loop.shutdown()
    }

    @Test
    func `a warning names the reactor and the thread, and consists of Problem, Likely cause and Remedy`()
      throws
    {
      enum Named {}
      let hooked = HookedWarnings(about: Watched<Named>.self)
      let reactor = Watched<Named>(expecting: ExpectedThread("the thread of the clock") { false })
      let isDone = Gate()
      _ = DedicatedThread(named: "elsewhere") {
        reactor.send(1)
        isDone.open()
      }
      #expect(isDone.wait())
      let warning = try #require(hooked.warnings.first)
      #expect(warning.reactor == String(reflecting: Watched<Named>.self))
      #expect(warning.threadName == "elsewhere")
      let number = try #require(warning.threadNumber)
      #expect(number > 0)
      #expect(
        warning.problem == """
          \(warning.reactor) received an action on another thread than the thread of the clock: elsewhere \
          (\(number)).
          """)
      let lines = warning.description.split(separator: "\n")
      #expect(lines.map { $0.prefix { $0 != ":" } } == ["Problem", "Likely cause", "Remedy"])
    }

    @Test func `a repeated warning is reported once and then counted`() {
      enum Again {}
      let hooked = HookedWarnings(about: Watched<Again>.self)
      let reactor = Watched<Again>(expecting: ExpectedThread("another thread") { false })
      for _ in 0..<500 { reactor.send(1) }
      // On a busy machine a turn may be long, which is another warning.
      let repeated: @Sendable () -> [Int] = {
        hooked.warnings.filter { $0.kind == .unexpectedThread }.map(\.count)
      }
      #expect(repeated().first == 1)
      #expect(Threads.yield { repeated().reduce(0, +) == 500 })
      #expect(repeated().count < 50)
    }

    @Test func `calling observers on an unexpected thread causes a warning`() throws {
      enum Expecting {}
      let loop = try Loop()
      let hooked = HookedWarnings(about: Watched<Expecting>.self)
      let reactor = Watched<Expecting>(expecting: .loop(loop))
      let isThere = Gate()
      #expect(
        run(on: loop) {
          _ = reactor.state.subscribe(onNext: { if $0 == [1] { isThere.open() } })
          reactor.send(1)
        })
      #expect(isThere.wait())
      #expect(hooked.kinds == [])
      reactor.send(2)
      #expect(hooked.kinds == [.unexpectedThread, .foreignObserver])
      loop.shutdown()
    }

    @Test func `observers of a reactor on a loop cause a warning only after the loop has ended`() throws {
      enum OnLoop {}
      let loop = try Loop()
      let hooked = HookedWarnings(about: Watched<OnLoop>.self)
      let reactor = Watched<OnLoop>(on: .loop(loop))
      let isThere = Gate()
      let subscription = reactor.state.subscribe(onNext: { if $0 == [1] { isThere.open() } })
      reactor.send(1)
      #expect(isThere.wait())
      subscription.dispose()
      loop.shutdown()
      #expect(hooked.kinds == [])
      let record = Record<[Int]>()
      _ = reactor.state.subscribe(onNext: { record.append($0) })
      #expect(record.elements == [[1]])
      #expect(hooked.kinds == [.foreignObserver])
    }

    @Test func `a stream that emits on an unexpected thread causes a warning`() throws {
      enum Emitting {}
      let loop = try Loop()
      let hooked = HookedWarnings(about: Watched<Emitting>.self)
      let source = PublishSubject<Int>()
      let reactor = Watched<Emitting>(
        expecting: .loop(loop), mutate: { _, _ in source.asObservable() })
      #expect(
        run(on: loop) {
          reactor.send(0)
          source.onNext(1)
        })
      #expect(hooked.kinds == [])
      source.onNext(2)
      #expect(hooked.kinds == [.foreignSource])
      #expect(reactor.currentState == [1, 2])
      loop.shutdown()
    }

    @Test func `what a stream emits in the turn of its action causes no warning besides that of the action`()
    {
      enum InItsTurn {}
      let hooked = HookedWarnings(about: Watched<InItsTurn>.self)
      let reactor = Watched<InItsTurn>(
        expecting: ExpectedThread("another thread") { false },
        mutate: { _, action in
          .create { observer in
            observer.onNext(action)
            observer.onCompleted()
            return Disposables.create()
          }
        })
      reactor.send(1)
      #expect(reactor.currentState == [1])
      #expect(hooked.kinds == [.unexpectedThread])
    }

    @Test func `a stream of a reactor on a loop may emit on any thread`() throws {
      enum Free {}
      let loop = try Loop()
      let hooked = HookedWarnings(about: Watched<Free>.self)
      let source = PublishSubject<Int>()
      let reactor = Watched<Free>(
        on: .loop(loop), expecting: .loop(loop), mutate: { _, _ in source.asObservable() })
      reactor.send(0)
      #expect(Threads.yield { source.hasObservers })
      source.onNext(1)
      #expect(Threads.yield { reactor.currentState == [1] })
      loop.shutdown()
      #expect(hooked.kinds == [])
    }

    /// Returns the kinds of warnings about a reactor whose transform merges in a source that emits, first on the
    /// reactor's loop and then on this thread.
    private func kinds<Name>(
      of _: Name.Type, _ transform: Failure.Transform
    ) throws -> (onLoop: [Warning.Kind], here: [Warning.Kind]) {
      let loop = try Loop()
      let hooked = HookedWarnings(about: Merging<Name>.self)
      let reactor = Merging<Name>(transform, expecting: .loop(loop))
      #expect(
        run(on: loop) {
          reactor.send(1)
          reactor.source.onNext(2)
        })
      let onLoop = hooked.kinds
      reactor.source.onNext(3)
      loop.shutdown()
      return (onLoop, hooked.kinds)
    }

    @Test func `a stream merged in a transform causes a warning if it emits on an unexpected thread`() throws
    {
      enum ByAction {}
      enum ByMutation {}
      enum ByState {}
      let byAction = try kinds(of: ByAction.self, .action)
      #expect(byAction.onLoop == [])
      #expect(byAction.here == [.foreignSource, .unexpectedThread])
      let byMutation = try kinds(of: ByMutation.self, .mutation)
      #expect(byMutation.onLoop == [])
      #expect(byMutation.here == [.foreignSource])
      let byState = try kinds(of: ByState.self, .state)
      #expect(byState.onLoop == [])
      #expect(byState.here == [.foreignSource])
    }

    @Test func `the main thread is the one that runs the main queue`() async {
      let isMain = await withCheckedContinuation { continuation in
        DispatchQueue.main.async { continuation.resume(returning: ExpectedThread.main.isCurrent()) }
      }
      #expect(isMain)
      let places = Record<Bool>()
      #expect(Threads.run(1) { _ in places.append(ExpectedThread.main.isCurrent()) })
      #expect(places.elements == [false])
    }
  }
#endif
