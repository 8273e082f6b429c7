import Foundation
import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Reactors on a thread of their own.
@Suite struct LoopTests {
  static let strategies: [WaitStrategy] = [.busy, .spinning, .parking]

  @Test(arguments: strategies)
  func `actions run on the thread of the loop`(_ waiting: WaitStrategy) throws {
    let loop = try Loop(waiting: waiting)
    let places = Record<Bool>()
    let reactor = Script(
      on: .loop(loop),
      mutate: { _, action in
        places.append(loop.isCurrent)
        return .just(action)
      })
    #expect(!loop.isCurrent)
    for index in 0..<100 { reactor.send(index) }
    #expect(Threads.start { loop.shutdown() }.wait())
    #expect(places.elements == Array(repeating: true, count: 100))
    #expect(reactor.currentState == Array(0..<100))
  }

  @Test
  func `a send wakes a loop that sleeps`() throws {
    let loop = try Loop()
    let reactor = Script(on: .loop(loop))
    // After each, the loop sooner or later releases the reactor and goes to sleep.
    for index in 1...50 {
      reactor.send(index)
      #expect(Threads.yield { reactor.currentState.count == index })
    }
    #expect(Threads.start { loop.shutdown() }.wait())
    #expect(reactor.currentState == Array(1...50))
  }

  @Test
  func `a loop that never sleeps still runs forty reactors`() throws {
    let loop = try Loop(waiting: .parking(after: .seconds(3600)))
    let reactors = (0..<40).map { _ in Script(on: .loop(loop)) }
    for reactor in reactors { reactor.send(1) }
    #expect(Threads.yield { reactors.allSatisfy { $0.currentState == [1] } })
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  @Test
  func `two thousand reactors on one loop keep the order of each sender`() throws {
    let loop = try Loop()
    let reactors = (0..<2000).map { _ in Script(on: .loop(loop), capacity: 8) }
    #expect(
      Threads.run(2) { thread in
        for round in 0..<3 {
          for reactor in reactors { reactor.send(thread * 10 + round) }
        }
      })
    #expect(Threads.start { loop.shutdown() }.wait())
    let wrong = reactors.count { reactor in
      let state = reactor.currentState
      return state.filter { $0 < 10 } != [0, 1, 2] || state.filter { $0 >= 10 } != [10, 11, 12]
    }
    #expect(wrong == 0)
  }

  @Test
  func `a busy reactor does not keep another one from its turn`() throws {
    let loop = try Loop(turnLimit: 4)
    let isDone = Gate()
    let other = Script(
      on: .loop(loop),
      mutate: { _, action in
        isDone.open()
        return .just(action)
      })
    // Sends to itself until the other one had its turn.
    let busy = Script(
      on: .loop(loop),
      mutate: { reactor, action in
        if !isDone.isOpen { reactor.send(action) }
        return .empty()
      })
    busy.send(0)
    other.send(1)
    #expect(isDone.wait())
    #expect(Threads.start { loop.shutdown() }.wait())
    #expect(other.currentState == [1])
  }

  @Test
  func `a loop runs on the processor that it was given or refuses it`() throws {
    let loop = try Loop(processor: 0)
    let reactor = Script(on: .loop(loop))
    reactor.send(1)
    #expect(Threads.start { loop.shutdown() }.wait())
    #expect(reactor.currentState == [1])
    for processor in [9999, -1] {
      #expect(throws: CoreError.processorIsInvalid) { _ = try Loop(processor: processor) }
    }
  }

  /// The processors that the calling thread may run on, as the system writes them.
  private static var allowedProcessors: String {
    allowedProcessors(in: (try? String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8)) ?? "")
  }

  private static func allowedProcessors(in status: String) -> String {
    let name = "Cpus_allowed_list:\t"
    let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
    return line.map { String($0.dropFirst(name.count)) } ?? "?"
  }

  @Test
  func `a thread that starts on the processor of a loop is not bound to it`() throws {
    let (allowed, counts, isDone) = (Record<String>(), Record<Int>(), Gate())
    let loop = try Loop(processor: 0)
    // Not on this thread, which may be one of Dispatch's that a bound thread has started.
    let all =
      (try? String(contentsOfFile: "/proc/\(getpid())/status", encoding: .utf8)).map {
        Self.allowedProcessors(in: $0)
      } ?? "?"
    try loop.execute {
      allowed.append(Self.allowedProcessors)
      DedicatedThread(named: "started") { allowed.append(Self.allowedProcessors) }.join()
      counts.append(DedicatedThread.processorCount)
      isDone.open()
    }
    #expect(isDone.wait())
    #expect(allowed.elements == ["0", all])
    #expect(counts.elements == [DedicatedThread.processorCount])
    #expect(Threads.start { loop.shutdown() }.wait())
  }
}
