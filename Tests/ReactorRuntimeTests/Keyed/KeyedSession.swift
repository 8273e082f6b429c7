import ReactorCore
import ReactorRuntime
import Synchronization
import TestSupport

/// A reactor with a key. Its state is the list of its notes.
final class KeyedSession: Reactor {
  enum Action: Sendable {
    case note(Int)
    case count(Reply<Int>)
    case run(@Sendable () -> Void)
    case close
  }

  let initialState: [Int]
  let runtime: Runtime<Action, Int, [Int]>

  init(
    _ notes: [Int] = [], on placement: Placement = .caller, capacity: Int = 4096,
    overflow: OverflowPolicy = .block, failures: Record<SendError> = Record()
  ) {
    initialState = notes
    runtime = Runtime(
      on: placement, capacity: capacity, overflow: overflow,
      onFailure: { failure in if let reason = failure.sendError { failures.append(reason) } })
  }

  func mutate(action: Action) -> Observable<Int> {
    switch action {
    case .note(let note): return .just(note)
    case .count(let reply):
      reply(currentState.count)
      return .empty()
    case .run(let body):
      body()
      return .empty()
    case .close:
      close()
      return .empty()
    }
  }

  func reduce(into state: inout [Int], mutation: Int) { state.append(mutation) }
}

/// Keeps the states of sessions, and counts what happens to them.
final class SessionStore: Sendable {
  private let kept = SystemMutex<[Int: [Int]]>([:])
  private let time = Atomic<Int64>(0)
  let keptKeys = Record<Int>()
  let madeKeys = Record<Int>()
  let failures = Record<SendError>()

  func load(_ key: Int) -> [Int] { kept.withLock { $0[key] ?? [] } }

  func keep(_ notes: [Int], of key: Int) {
    kept.withLock { $0[key] = notes }
    keptKeys.append(key)
  }

  /// Lets virtual time pass.
  func advance(seconds: Int64) { time.wrappingAdd(seconds * 1_000_000_000, ordering: .relaxed) }

  /// - Parameters:
  ///   - beforeKeeping: Runs before a state is kept, on the thread that has ended the session.
  ///   - beforeMaking: Runs before a session is made.
  func makeSessions(
    on placement: Placement = .caller, capacity: Int = 4096, upTo limit: Int = .max,
    waitingCapacity: Int = 4096,
    beforeKeeping: @escaping @Sendable (Int) -> Void = { _ in },
    beforeMaking: @escaping @Sendable (Int) -> Void = { _ in }
  ) -> KeyedReactors<Int, KeyedSession> {
    KeyedReactors(
      upTo: limit, waitingCapacity: waitingCapacity,
      clock: { [self] in time.load(ordering: .relaxed) },
      onFailure: { [failures] in if let reason = $0.sendError { failures.append(reason) } },
      onPassivate: { [self] key, notes in
        beforeKeeping(key)
        keep(copy notes, of: key)
      },
      make: { [self] key in
        beforeMaking(key)
        madeKeys.append(key)
        return KeyedSession(load(key), on: placement, capacity: capacity, failures: failures)
      })
  }
}

/// A collection in which another thread is in the middle of making the reactor of key 1, or of keeping its state, until it may go on.
struct HeldTransition {
  let sessions: KeyedReactors<Int, KeyedSession>
  /// How much waits already.
  let waiting: Int
  private let mayGoOn: Gate
  private let isDone: Gate

  /// - Parameters:
  ///   - makeSessions: Makes a collection that calls its argument in that middle.
  ///   - begin: What the other thread does.
  init(
    _ makeSessions: (@escaping @Sendable () -> Void) -> KeyedReactors<Int, KeyedSession>,
    begin: @escaping @Sendable (KeyedReactors<Int, KeyedSession>) -> Void
  ) {
    let (isHeld, mayGoOn) = (Gate(), Gate())
    let sessions = makeSessions {
      isHeld.open()
      _ = mayGoOn.wait()
    }
    isDone = Threads.start { begin(sessions) }
    _ = isHeld.wait()
    self.sessions = sessions
    self.mayGoOn = mayGoOn
    waiting = sessions.counters.waiting
  }

  /// While the state of key 1, which is that note, is being kept.
  init(
    keeping note: Int,
    in makeSessions: (_ beforeKeeping: @escaping @Sendable () -> Void) -> KeyedReactors<Int, KeyedSession>
  ) {
    self.init(makeSessions) { sessions in
      sessions.send(.note(note), to: 1)
      sessions.passivate(1)
    }
  }

  func goOn() { mayGoOn.open() }

  /// Lets it go on, and waits for it. Returns whether it has ended.
  func finish() -> Bool {
    goOn()
    return isDone.wait()
  }
}

extension SessionStore {
  /// While the reactor of key 1 is being made, for a note 1.
  func beginMaking(waitingCapacity: Int = 4096) -> HeldTransition {
    HeldTransition { hold in
      makeSessions(waitingCapacity: waitingCapacity, beforeMaking: { _ in hold() })
    } begin: { sessions in
      sessions.send(.note(1), to: 1)
    }
  }

  func beginKeeping(note: Int) -> HeldTransition {
    HeldTransition(keeping: note) { hold in makeSessions(beforeKeeping: { _ in hold() }) }
  }
}
