import Foundation
import ReactorCore
import TestSupport
import Testing

@testable import ReactorRuntime

/// Tests of code of others that a loop runs at its end, after its last turn: an observer is told the last state then.
@Suite struct LoopEndTests {
  /// A loop that is inside of its last turn, and an observer that blocks at the loop's end.
  private struct Ending {
    let loop: Loop
    private let isTold = Gate()
    private let mayReturn = Gate()
    private let mayGoOn = Gate()
    private let reactor: Script

    /// - Parameter run: Runs the loop.
    init(_ loop: Loop, run: () -> Void = {}) throws {
      let isInside = Gate()
      self.loop = loop
      reactor = Script(
        on: .loop(loop),
        mutate: { [mayGoOn] _, action in
          isInside.open()
          _ = mayGoOn.wait()
          return .just(action)
        })
      reactor.send(1)
      run()
      try #require(isInside.wait())
    }

    /// Lets the loop go on, and returns once it is in what it runs at its end. The loop is closed.
    func goOn(_ observe: @escaping @Sendable () -> Void = {}) -> Bool {
      // The loop has not closed it yet.
      reactor.close()
      reactor.state.subscribe(onNext: { [isTold, mayReturn] _ in
        observe()
        isTold.open()
        _ = mayReturn.wait()
      })
      mayGoOn.open()
      return isTold.wait()
    }

    func finish() { mayReturn.open() }
  }

  /// A thread that shuts a loop down before a deadline.
  private struct Closer {
    let hasReturned: Gate
    private let errors = Record<ShutdownError>()
    private let label = Record<Int>()

    init(_ loop: Loop) {
      hasReturned = Threads.start { [errors, label] in
        label.append(ThreadLabel.current.number)
        do throws(ShutdownError) {
          // Long enough for the test to get to the loop's end meanwhile, also on a busy machine.
          try loop.shutdown(before: .now + .seconds(10))
        } catch { errors.append(error) }
      }
    }

    /// Whether the thread sleeps: it waits for the end.
    var isWaiting: Bool {
      guard let number = label.elements.first,
        let status = try? String(contentsOfFile: "/proc/self/task/\(number)/stat", encoding: .utf8),
        let name = status.lastIndex(of: ")")
      else { return false }
      return status[name...].dropFirst(2).first == "S"
    }

    var unfinished: [Unfinished] {
      if case .unfinished(let unfinished)? = errors.elements.first { unfinished } else { [] }
    }
  }

  @Test
  func `a deadline holds for what a loop runs at its end`() throws {
    let loop = try Loop(name: "orders")
    let ending = try Ending(loop)
    let closer = Closer(loop)
    #expect(Threads.yield { closer.isWaiting })
    #expect(ending.goOn())
    #expect(closer.hasReturned.wait())
    #expect(closer.unfinished.map(\.name) == ["loop"])
    #expect(closer.unfinished.map(\.loop) == ["orders"])
    guard case .busy? = closer.unfinished.first?.occupation else {
      Issue.record("\(closer.unfinished)")
      return ending.finish()
    }
    ending.finish()
    try loop.shutdown(before: .now + .seconds(patience))
  }

  @Test
  func `a deadline holds for what a hosted loop runs at its end`() throws {
    let hosted = try HostedLoop(name: "orders")
    let hasEnded = Record<Gate>()
    let ending = try Ending(hosted.loop) {
      hasEnded.append(
        Threads.start {
          while !hosted.loop.state.hasEnded {
            hosted.run()
            DedicatedThread.yield()
          }
        })
    }
    let closer = Closer(hosted.loop)
    #expect(Threads.yield { closer.isWaiting })
    #expect(ending.goOn())
    #expect(closer.hasReturned.wait())
    #expect(closer.unfinished.map(\.name) == ["loop"])
    ending.finish()
    try hosted.loop.shutdown(before: .now + .seconds(patience))
    #expect(hasEnded.elements.allSatisfy { $0.wait() })
  }

  /// The waiting thread is the loop's host, and would run its rounds; but another thread is in the middle of one.
  @Test
  func `a deadline holds for the host of a loop whose turn another thread runs`() throws {
    let (isInside, mayGoOn) = (Gate(), Gate())
    let closer = Record<Gate>()
    let hasReturned = Threads.start {
      guard let hosted = try? HostedLoop() else { return }
      let stuck = Script(
        on: .loop(hosted.loop),
        mutate: { _, action in
          isInside.open()
          _ = mayGoOn.wait()
          return .just(action)
        })
      hosted.run()
      stuck.send(1)
      closer.append(Threads.start { _ = hosted.finishClosing(before: .now + .milliseconds(1)) })
      _ = isInside.wait()
      #expect(!stuck.waitUntilEnded(before: .now + .milliseconds(50)))
      #expect(throws: SendError.self) {
        for action in 0..<100_000 { try stuck.send(action, before: .now + .milliseconds(50)) }
      }
    }
    #expect(hasReturned.wait())
    mayGoOn.open()
    #expect(hasReturned.wait())
    #expect(closer.elements.allSatisfy { $0.wait() })
  }

  @Test
  func `what a loop runs at its end may shut it down with a deadline`() throws {
    let loop = try Loop()
    let ending = try Ending(loop)
    loop.beginClosing()
    let isUnfinished = Record<Bool>()
    let hasGoneOn = Threads.start {
      _ = ending.goOn {
        do { try loop.shutdown(before: .now + .seconds(3600)) } catch { isUnfinished.append(true) }
      }
    }
    #expect(hasGoneOn.wait())
    ending.finish()
    try loop.shutdown(before: .now + .seconds(patience))
    #expect(isUnfinished.elements == [])
  }
}
