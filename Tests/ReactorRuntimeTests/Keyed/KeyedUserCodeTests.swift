import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Tests of the program's code that a collection runs, and that uses the collection. If it ran under a mutex of the collection, its
/// thread would block forever, so these tests have threads of their own.
@Suite struct KeyedUserCodeTests {
  /// Calls a closure when it goes away.
  private final class Ending: Sendable {
    private let action: @Sendable () -> Void
    init(_ action: @escaping @Sendable () -> Void) { self.action = action }
    deinit { action() }
  }

  /// Calls a closure whenever its runtime is read.
  private final class Indirect: Reactor {
    typealias Action = Int
    let initialState = 0
    private let stored = Runtime<Int, Int, Int>()
    private let onRead: @Sendable () -> Void

    init(_ onRead: @escaping @Sendable () -> Void) { self.onRead = onRead }

    var runtime: Runtime<Int, Int, Int> {
      onRead()
      return stored
    }

    func reduce(into state: inout Int, mutation: Int) { state += mutation }
  }

  @Test func `the runtime of a reactor may use the collection`() throws {
    let held = SystemMutex<KeyedReactors<Int, Indirect>?>(nil)
    let reactors = KeyedReactors<Int, Indirect>(make: { _ in Indirect { _ = held.withLock { $0 }?.count } })
    held.withLock { $0 = reactors }
    let isDone = Threads.start {
      reactors.send(1, to: 1)
      // The next send ends it.
      reactors[1]?.close()
      reactors.send(2, to: 1)
    }
    try #require(isDone.wait(seconds: 60))
    #expect(reactors.currentState(of: 1) == 2)
    held.withLock { $0 = nil }
  }

  /// It stores no runtime.
  private final class Plain: ReactorKitReactor {
    enum Action: Sendable {
      case note
      case keep(Ending)
    }
    let initialState: [Ending] = []

    func reduce(state: [Ending], mutation: Action) -> [Ending] {
      if case .keep(let ending) = mutation { state + [ending] } else { state }
    }
  }

  /// The first use of a reactor's runtime often sweeps the side table, and so destroys the states of others.
  @Test func `states that go away while a reactor is made may use the collection`() throws {
    let (held, endings) = (SystemMutex<KeyedReactors<Int, Plain>?>(nil), Lifetimes())
    let reactors = KeyedReactors<Int, Plain>(
      onRemove: { key in held.withLock { $0 }?.send(.note, to: key) }, make: { _ in Plain() })
    held.withLock { $0 = reactors }
    let isDone = Threads.start {
      reactors.send(.note, to: 1)
      for _ in 0..<1000 {
        let ending = Ending {
          _ = endings.track()
          held.withLock { $0 }?.send(.note, to: 1)
        }
        Plain().send(.keep(ending))
        reactors.remove(1)
      }
    }
    try #require(isDone.wait(seconds: 60))
    #expect(endings.total > 0)
    held.withLock { $0 = nil }
  }

  private final class Name: Hashable, Sendable {
    private let number: Int
    private let ending: Ending

    init(_ number: Int, onEnd: @escaping @Sendable () -> Void = {}) {
      (self.number, ending) = (number, Ending(onEnd))
    }

    static func == (first: Name, second: Name) -> Bool { first.number == second.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }
  }

  @Test func `a key that goes away with its reactor may use the collection`() throws {
    let (held, counts) = (SystemMutex<KeyedReactors<Name, KeyedSession>?>(nil), Record<Int?>())
    let sessions = KeyedReactors<Name, KeyedSession>(make: { _ in KeyedSession() })
    held.withLock { $0 = sessions }
    let isDone = Threads.start {
      sessions.send(.note(1), to: Name(1) { counts.append(held.withLock { $0 }?.count) })
      sessions.passivate(Name(1))
    }
    try #require(isDone.wait(seconds: 60))
    #expect(counts.elements == [0])
    held.withLock { $0 = nil }
  }
}
