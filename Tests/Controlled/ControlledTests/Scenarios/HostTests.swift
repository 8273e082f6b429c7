import ReactorCore
import Synchronization
import TestSupport
import Testing

@testable import ReactorRuntime

extension Controlled {
  /// Threads that host a loop and wait for something else than its work: they run rounds beside the foreign loop, which must not
  /// sleep on what these leave.
  @Suite struct HostTests {
    enum Hosts: CaseIterable {
      /// The foreign loop watches descriptors, or takes closures. The thread that made the loop is the host at first.
      case watching, called
      /// It takes closures, and any thread is a host.
      case everyThread

      func make() -> Host {
        switch self {
        case .watching: .watching()
        case .called: .called()
        case .everyThread: .called(isHost: { true })
        }
      }
    }

    @Test(arguments: Hosts.allCases)
    func `a host that waits for room runs rounds beside the foreign loop`(_ hosts: Hosts) {
      explore("a host that waits for room, and a sender, \(hosts)", schedules: 800) {
        let ledger = Ledger()
        do {
          let host = hosts.make()
          let subject = Subject(ledger, on: host.hosted.placement, capacity: 1)
          subject.runtime.yieldSeldom()
          let send = { @Sendable (sender: Int) in
            for number in 0..<2 { ledger.send(sender * 10 + number) { subject.send($0) } }
          }
          let other = Worker("sender") { send(1) }
          // The thread that made the loop, so that it waits for its own round.
          send(0)
          other.join()
          awaitRest()
          ledger.verifyAtRest()
          host.end()
        }
        ledger.verify()
      }
    }

    /// The foreign loop is about to sleep when another thread takes the timer in: either it finds that in its last check, or
    /// it is woken.
    @Test(arguments: Hosts.allCases.dropLast())
    func `a timer that was taken in beside the foreign loop runs in time`(_ hosts: Hosts) {
      explore("a timer, and a round beside the host, \(hosts)", schedules: hosts == .watching ? 4000 : 1000) {
        let jobs = JobLedger()
        do {
          let foreign = Foreign(watches: hosts == .watching)
          let hosted = foreign.hosted
          nonisolated(unsafe) var timer: JobLedger.Timer?
          // The foreign loop is woken, so what comes now wakes nobody.
          jobs.execute(0, on: hosted.loop)
          together(
            { _ = hosted.run(rounds: 2) },
            {
              timer = jobs.schedule(1, after: .seconds(1), on: hosted.loop)
              // As a host that waits for room.
              _ = hosted.stepper.stepIfIdle(besideHost: true)
            })
          // The timer is due by now.
          foreign.runWhileWoken()
          jobs.verifyAtRest()
          timer?.verifyRun()
          jobs.willClose()
          hosted.shutdown()
          jobs.noteEnd()
        }
        jobs.verify()
      }
    }

    /// Each thread is inside of a foreign loop, has run a round there, and sends to the next thread's loop, in which there is no room.
    /// None waits for itself in a cycle, since each runs rounds while it waits.
    @Test(arguments: 1...3) func `of the sends of hosts that wait for each other, none is refused`(
      _ count: Int
    ) {
      explore("a cycle of \(count) hosts that wait for room") {
        let ledgers = (0..<count).map { _ in Ledger() }
        do {
          let hosts = (0..<count).map { _ in Shared(Atomic<UInt64>(0)) }
          let loops = hosts.map { host in
            // There is memory.
            try! HostedLoop(
              onWake: { _ in }, isHost: { host.value.load(ordering: .relaxed) == CurrentCore.threadToken })
          }
          let subjects = (0..<count).map { Subject(ledgers[$0], on: loops[$0].placement, capacity: 1) }
          for subject in subjects { subject.runtime.yieldSeldom() }
          let areFull = (0..<count).map { _ in Latch() }
          let workers = (0..<count).map { index in
            Worker("host-\(index)") {
              hosts[index].value.store(CurrentCore.threadToken, ordering: .relaxed)
              loops[index].run(rounds: 1)
              ledgers[index].send(0) { subjects[index].send($0) }
              areFull[index].open()
              for isFull in areFull { isFull.wait() }
              let next = (index + 1) % count
              ledgers[next].send(1) { subjects[next].send($0) }
              loops[index].run()
            }
          }
          for worker in workers { worker.join() }
          // What was sent after the last round of its loop.
          for loop in loops { loop.run() }
          for ledger in ledgers { ledger.verifyAtRest() }
          for ledger in ledgers { ledger.willClose() }
          for loop in loops { loop.shutdown() }
        }
        for ledger in ledgers { ledger.verify() }
      }
    }
  }
}

/// A hosted loop whose foreign loop does nothing by itself.
private final class Foreign: @unchecked Sendable {
  // Unchecked: one thread runs at a time, and nothing is changed with a point in between.
  let hosted: HostedLoop
  private let poller: Poller?
  private let calls = Calls()

  private final class Calls: @unchecked Sendable {
    // Unchecked: as above.
    var count = 0
  }

  /// - Parameter watches: Whether it watches the descriptor of the hosted loop; otherwise it is called.
  init(watches: Bool) {
    // There are descriptors, and there is memory.
    if watches {
      let (loop, watcher) = (try! HostedLoop(turnLimit: 2), try! Poller())
      try! watcher.add(loop.descriptor, for: .readable, tag: 0)
      (hosted, poller) = (loop, watcher)
    } else {
      hosted = try! HostedLoop(turnLimit: 2, onWake: { [calls] _ in calls.count += 1 })
      poller = nil
    }
  }

  /// Runs rounds as long as the foreign loop would.
  func runWhileWoken() { while isWoken() { hosted.run(rounds: 2) } }

  private func isWoken() -> Bool {
    guard let poller else {
      if calls.count == 0 { return false }
      calls.count -= 1
      return true
    }
    var isReady = false
    poller.wait(timeoutMilliseconds: 0) { _, _ in isReady = true }
    return isReady
  }
}
