#if DEBUG
  import ReactorCore
  import TestSupport
  import Testing

  @testable import ReactorRuntime

  /// Tests of warnings about turns. Each warning is provoked once, and its absence is tested once.
  @Suite struct TurnWarningTests {
    @Test func `calling reduce inside of reduce causes a warning`() {
      enum Nested {}
      let hooked = HookedWarnings(about: Watched<Nested>.self)
      let reactor = Watched<Nested>(
        reduce: { reactor, state, mutation in
          // User code cannot call this method.
          if mutation == 2 { reactor.runtime.reduce(3, of: reactor) }
          return state + [mutation]
        })
      reactor.send(1)
      #expect(hooked.kinds == [])
      reactor.send(2)
      #expect(hooked.kinds == [.reduceEnteredTwice])
    }

    @Test func `calling reduce inside of reduce causes a warning if the state is transformed`() {
      enum Nested {}
      let hooked = HookedWarnings(about: Merging<Nested>.self)
      let reactor = Merging<Nested>(
        .state, reduce: { reactor, mutation in if mutation == 2 { reactor.runtime.reduce(3, of: reactor) } })
      reactor.send(1)
      #expect(hooked.kinds == [])
      reactor.send(2)
      #expect(hooked.kinds == [.reduceEnteredTwice])
    }

    @Test func `calling reduce on two threads at once causes a warning`() {
      enum Twice {}
      let hooked = HookedWarnings(about: Watched<Twice>.self)
      let isInside = Gate()
      let mayGoOn = Gate()
      let reactor = Watched<Twice>(
        reduce: { reactor, state, mutation in
          isInside.open()
          _ = mayGoOn.wait()
          return state
        })
      let isDone = Threads.start { reactor.send(1) }
      #expect(isInside.wait())
      #expect(hooked.kinds == [])
      reactor.runtime.beginReduce()
      reactor.runtime.endReduce()
      #expect(hooked.kinds == [.reduceEnteredTwice])
      mayGoOn.open()
      #expect(isDone.wait())
    }

    @Test func `sending and emitting inside of reduce cause no warning`() {
      enum Sending {}
      let hooked = HookedWarnings(about: Watched<Sending>.self)
      let source = PublishSubject<Int>()
      let reactor = Watched<Sending>(
        mutate: { _, action in action == 0 ? source.asObservable() : .just(action) },
        reduce: { reactor, state, mutation in
          if mutation == 1 {
            reactor.send(2)
            source.onNext(3)
          }
          return state + [mutation]
        })
      reactor.send(0)
      reactor.send(1)
      #expect(reactor.currentState == [1, 2, 3])
      #expect(hooked.kinds == [])
    }

    /// Fills the mailbox of a reactor on a loop while its turn is held, and then calls `send`, which finds no room.
    private func sendToFull<Name>(
      _: Name.Type, _ send: @escaping @Sendable (Watched<Name>) -> Void, whileItWaits: @escaping () -> Bool
    ) throws {
      let loop = try Loop()
      let isInside = Gate()
      let mayGoOn = Gate()
      let full = Watched<Name>(
        on: .loop(loop), capacity: 4,
        mutate: { _, action in
          if action == 0 {
            isInside.open()
            _ = mayGoOn.wait()
          }
          return .just(action)
        })
      full.send(0)
      #expect(isInside.wait())
      while (try? full.trySend(1)) != nil {}
      let isDone = Threads.start { send(full) }
      #expect(Threads.yield(until: whileItWaits))
      mayGoOn.open()
      #expect(isDone.wait())
      loop.shutdown()
    }

    @Test func `a send to a full mailbox inside of a turn causes a warning`() throws {
      enum Full {}
      enum Sender {}
      let hooked = HookedWarnings(about: Watched<Full>.self)
      try sendToFull(
        Full.self,
        { full in
          let sender = Watched<Sender>(
            mutate: { _, action in
              full.send(action)
              return .empty()
            })
          sender.send(2)
        }, whileItWaits: { hooked.kinds == [.keptSend] })
      let problem = try #require(hooked.warnings.first { $0.kind == .keptSend }?.problem)
      #expect(problem.contains(String(reflecting: Watched<Sender>.self)))
    }

    @Test func `a send through the subject to a full mailbox inside of an observer causes a warning`() throws
    {
      enum Full {}
      enum Sender {}
      let hooked = HookedWarnings(about: Watched<Full>.self)
      try sendToFull(
        Full.self,
        { full in
          let sender = Watched<Sender>()
          _ = sender.state.subscribe(onNext: { if $0 == [2] { full.action.onNext(2) } })
          sender.action.onNext(2)
        }, whileItWaits: { hooked.kinds == [.keptSend] })
    }

    @Test func `a send that waits outside of turns causes no warning`() throws {
      enum Full {}
      let hooked = HookedWarnings(about: Watched<Full>.self)
      let isSending = Gate()
      try sendToFull(
        Full.self,
        { full in
          isSending.open()
          full.send(2)
        }, whileItWaits: { isSending.isOpen })
      #expect(hooked.kinds == [])
    }

    @Test func `a mutation that was emitted on another thread is reduced inside of a turn`() throws {
      enum Streaming {}
      let loop = try Loop()
      let source = PublishSubject<Int>()
      let inside = Record<String>()
      let reactor = Watched<Streaming>(
        on: .loop(loop), mutate: { _, _ in source.asObservable() },
        reduce: { _, state, mutation in
          inside.append(ThreadTurn.innermost.map { String(describing: $0.reactor) } ?? "none")
          return state + [mutation]
        })
      reactor.send(0)
      #expect(Threads.yield { source.hasObservers })
      source.onNext(1)
      #expect(Threads.yield { reactor.currentState == [1] })
      #expect(inside.elements == [String(describing: Watched<Streaming>.self)])
      loop.shutdown()
    }

    @Test func `a nested turn of another reactor ends when it returns`() {
      enum First {}
      enum Second {}
      #expect(ThreadTurn.innermost == nil)
      let second = Watched<Second>()
      let inside = Record<[String]>()
      let first = Watched<First>(
        mutate: { _, action in
          let before = ThreadTurn.innermost
          second.send(action)
          inside.append(
            [before, ThreadTurn.innermost].compactMap { $0.map { String(describing: $0.reactor) } })
          return .just(action)
        })
      for _ in 0..<2 { first.send(1) }
      first.action.onNext(1)
      let name = String(describing: Watched<First>.self)
      #expect(inside.elements == Array(repeating: [name, name], count: 3))
      #expect(ThreadTurn.innermost == nil)
    }
  }

  /// A serialized suite of its own, because the threshold is global.
  @Suite(.serialized) struct LongTurnTests {
    /// Returns a reactor whose turns take the given time.
    private func reactor<Name>(_: Name.Type, taking duration: Duration) -> Watched<Name> {
      Watched(
        mutate: { _, action in
          let end = ContinuousClock.now + duration
          while ContinuousClock.now < end { DedicatedThread.yield() }
          return .just(action)
        })
    }

    @Test func `a turn longer than the threshold causes a warning`() {
      enum Slow {}
      let hooked = HookedWarnings(about: Watched<Slow>.self)
      #expect(Hooks.longTurnThreshold == .milliseconds(100))
      reactor(Slow.self, taking: .milliseconds(101)).send(1)
      #expect(hooked.hasLongTurn)
    }

    @Test func `a turn shorter than the threshold causes no warning`() {
      enum Quick {}
      let hooked = HookedWarnings(about: Watched<Quick>.self)
      Hooks.longTurnThreshold = .seconds(Int64.max)
      defer { Hooks.longTurnThreshold = .milliseconds(100) }
      reactor(Quick.self, taking: .milliseconds(101)).send(1)
      #expect(!hooked.hasLongTurn)
    }
  }
#endif
