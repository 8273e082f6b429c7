import Dispatch
import Glibc
import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// A hosted loop whose foreign loop is called, since it watches no descriptors.
@Suite struct CalledHostTests {
  /// A foreign loop: a list of closures, which the test runs.
  private final class Foreign: Sendable {
    private let tasks = SystemMutex<[@Sendable () -> Void]>([])

    func post(_ task: @escaping @Sendable () -> Void) { tasks.withLock { $0.append(task) } }

    var count: Int { tasks.withLock { $0.count } }

    /// Runs what was posted before.
    func run() {
      let present = tasks.withLock { tasks in
        defer { tasks = [] }
        return tasks
      }
      for task in present { task() }
    }
  }

  @Test func `the closure is called once until the rounds are over`() throws {
    let foreign = Foreign()
    let hosted = try HostedLoop { hosted in foreign.post { hosted.run() } }
    let reactors = (0..<4).map { _ in Script(on: hosted.placement, capacity: 4096) }
    #expect(hosted.descriptor == -1)
    for round in 1...10 {
      #expect(foreign.count == 0)
      #expect(
        Threads.run(4) { thread in
          for index in 0..<100 { reactors[(thread + index) % 4].send(round) }
        })
      #expect(foreign.count == 1)
      foreign.run()
      #expect(reactors.allSatisfy { $0.currentState.count == 100 * round })
    }
    #expect(hosted.loop.counters.wakes == 10)
  }

  @Test func `a loop that goes away inside of a turn runs what is left on another thread`() throws {
    let held = SystemMutex<HostedLoop?>(nil)
    let (hasReturned, isRun, waited) = (Gate(), Gate(), Record<Bool>())
    let placement: Placement
    do {
      // Drops the last reference but that of the sender that calls this.
      let hosted = try HostedLoop { _ in _ = held.withLock { $0.take() } }
      held.withLock { $0 = hosted }
      placement = hosted.placement
    }
    let receiver = Script(
      on: placement,
      mutate: { _, action in
        waited.append(hasReturned.wait(seconds: 10))
        isRun.open()
        return .just(action)
      })
    let sender = Script(
      on: .caller,
      mutate: { _, action in
        receiver.send(action)
        hasReturned.open()
        return .empty()
      })
    sender.send(1)
    #expect(isRun.wait())
    #expect(waited.elements == [true])
    #expect(Threads.yield { receiver.currentState == [1] })
    let isGone = held.withLock { $0 == nil }
    #expect(isGone)
  }

  @Test func `the closure is called again if work is left`() throws {
    let foreign = Foreign()
    let hosted = try HostedLoop(turnLimit: 1) { hosted in foreign.post { hosted.run(rounds: 2) } }
    let reactor = Script(on: hosted.placement)
    for action in 0..<5 { reactor.send(action) }
    for done in [2, 4, 5] {
      #expect(foreign.count == 1)
      foreign.run()
      #expect(reactor.currentState.count == done)
    }
    foreign.run()
    #expect(foreign.count == 0)
  }

  @Test func `rounds that nothing asked for do no harm`() throws {
    let foreign = Foreign()
    let hosted = try HostedLoop { hosted in foreign.post { hosted.run() } }
    let reactor = Script(on: hosted.placement)
    hosted.run()
    reactor.send(1)
    hosted.run()
    reactor.send(2)
    // The first one was still on its way.
    #expect(foreign.count == 2)
    foreign.run()
    #expect(reactor.currentState == [1, 2])
    #expect(foreign.count == 0)
  }

  @Test func `nothing is forgotten while other threads send`() throws {
    let queue = DispatchQueue(label: "foreign")
    let hosted = try HostedLoop(turnLimit: 8) { hosted in queue.async { hosted.run(rounds: 1) } }
    let reactors = (0..<3).map { _ in Script(on: hosted.placement, capacity: 64) }
    #expect(
      Threads.run(4) { thread in
        for index in 0..<3000 { reactors[index % 3].send(thread) }
      })
    #expect(Threads.yield { reactors.allSatisfy { $0.withCurrentState { $0.count } == 4000 } })
  }

  @Test func `the foreign loop is asked for the first timer only`() throws {
    let (foreign, asked) = (Foreign(), Record<Duration>())
    let hosted = try HostedLoop(
      onTimer: { asked.append($1) }, onWake: { hosted in foreign.post { hosted.run() } })
    let fired = Record<Int>()
    try hosted.loop.schedule(after: .seconds(100)) { fired.append(1) }
    foreign.run()
    try hosted.loop.schedule(after: .seconds(200)) { fired.append(2) }
    foreign.run()
    #expect(asked.elements.count == 1)
    try hosted.loop.schedule(after: .milliseconds(20)) { fired.append(3) }
    foreign.run()
    #expect(asked.elements.count == 2)
    #expect(asked.elements.last.map { $0 <= .milliseconds(20) } == true)
    #expect(Threads.yield { hosted.run() == 1 })
    #expect(fired.elements == [3])
    // The call for the next one is still to come, and is not asked for again.
    hosted.run()
    #expect(asked.elements.count { $0 > .seconds(90) } == 1)
    // Shortly before its time the third one may be asked for twice more, however many rounds run; and once more if its time
    // comes between a round and the request.
    #expect(asked.elements.count <= 5)
  }

  @Test func `without a closure for timers a timer calls the other closure`() throws {
    let foreign = Foreign()
    let hosted = try HostedLoop { hosted in foreign.post { hosted.run() } }
    let fired = Record<Int>()
    try hosted.loop.schedule(after: .milliseconds(5)) { fired.append(1) }
    foreign.run()
    #expect(Threads.yield { foreign.count == 1 })
    foreign.run()
    #expect(
      Threads.yield {
        foreign.run()
        return fired.elements == [1]
      })
  }

  @Test func `a descriptor is refused since nothing polls it`() throws {
    let hosted = try HostedLoop { _ in }
    for _ in 0..<2 {
      #expect(throws: WatchError.notPolled) { try hosted.loop.watch(0, for: .readable) { _, _ in } }
    }
  }

  @Test func `the foreign loop that is called runs a closed loop to its end`() throws {
    let foreign = Foreign()
    let hosted = try HostedLoop { hosted in foreign.post { hosted.run() } }
    let reactor = Script(on: hosted.placement)
    reactor.send(1)
    hosted.beginClosing()
    #expect(throws: SendError.closed) { try reactor.trySend(2) }
    foreign.run()
    #expect(hosted.loop.finishClosing(before: .now).isEmpty)
    #expect(reactor.currentState == [1])
    #expect(foreign.count == 0)
  }

  @Test func `a loop that is closed while it is idle asks for its last round`() throws {
    let foreign = Foreign()
    let hosted = try HostedLoop { hosted in foreign.post { hosted.run() } }
    hosted.run()
    hosted.beginClosing()
    #expect(foreign.count == 1)
    foreign.run()
    #expect(hosted.loop.finishClosing(before: .now).isEmpty)
    // From then on it asks for none, since there may be no foreign loop any more.
    hosted.beginClosing()
    hosted.shutdown()
    #expect(foreign.count == 0)
  }

  @Test func `the turns of a loop that a queue hosts run in that queue`() throws {
    let host = try QueueHost()
    let (queue, hosted) = (host.queue, host.loop)
    let isInQueue = Record<Bool>()
    let reactor = Script(
      on: hosted.placement,
      mutate: { _, action in
        isInQueue.append(host.isCurrent)
        return .just(action)
      })
    // In a turn that does not end, so that its mailbox stays full.
    let (isInside, mayGoOn) = (Gate(), Gate())
    let full = Script.held(on: .caller, capacity: 1, isInside: isInside, mayGoOn: mayGoOn)
    let ownerIsDone = Threads.start { full.send(0) }
    #expect(isInside.wait())
    while (try? full.trySend(1)) != nil {}
    // The block runs on this thread, which is not inside of the queue afterwards.
    queue.sync { _ = hosted.run() }
    queue.suspend()
    reactor.send(1)
    #expect(throws: SendError.timedOut) { try full.send(2, before: .now + .milliseconds(50)) }
    #expect(reactor.currentState == [])
    queue.resume()
    #expect(Threads.yield { reactor.currentState == [1] })
    #expect(isInQueue.elements == [true])
    mayGoOn.open()
    #expect(ownerIsDone.wait())
  }

  /// As a thread of Dispatch's pool does: it has run a round, and then runs code of another queue.
  @Test func `a thread that ran the last round in a queue waits for room like any other`() throws {
    let host = try QueueHost()
    let (queue, hosted) = (host.queue, host.loop)
    let failures = Record<SendError>()
    let reactor = Script(on: hosted.placement, capacity: 8, failures: failures)
    let isDone = Threads.start {
      queue.sync { _ = hosted.run() }
      // The queue does something else for a while.
      queue.async { usleep(50_000) }
      for action in 0..<20 { reactor.send(action) }
    }
    #expect(isDone.wait(seconds: 60))
    #expect(Threads.yield { reactor.currentState.count == 20 })
    #expect(failures.elements == [])
  }

  /// Inside of the queue, on a thread that has never run a round.
  @Test func `code of the queue that waits for another loop keeps this one running`() throws {
    let host = try QueueHost()
    let (queue, hosted) = (host.queue, host.loop)
    let reactor = Script(on: hosted.placement)
    let (isInside, mayGoOn) = (Gate(), Gate())
    let full = Script.held(on: .caller, capacity: 1, isInside: isInside, mayGoOn: mayGoOn)
    let ownerIsDone = Threads.start { full.send(0) }
    #expect(isInside.wait())
    while (try? full.trySend(1)) != nil {}
    let isDone = Threads.start {
      queue.sync {
        reactor.send(1)
        full.send(2)
      }
    }
    #expect(Threads.yield { reactor.currentState == [1] })
    #expect(!isDone.isOpen)
    mayGoOn.open()
    #expect(ownerIsDone.wait())
    #expect(isDone.wait())
  }
}

/// A loop that a queue of Dispatch hosts.
private struct QueueHost: Sendable {
  let queue = DispatchQueue(label: "host")
  let loop: HostedLoop
  private let mark: DispatchSpecificKey<Void>

  init() throws {
    let (queue, mark) = (queue, DispatchSpecificKey<Void>())
    queue.setSpecific(key: mark, value: ())
    self.mark = mark
    loop = try HostedLoop(
      onWake: { hosted in queue.async { hosted.run() } },
      isHost: { DispatchQueue.getSpecific(key: mark) != nil })
  }

  /// Whether the calling thread runs a block of the queue.
  var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) != nil }
}
