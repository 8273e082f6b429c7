import Glibc
import ReactorCore
import Synchronization
import TestSupport
import Testing

@testable import ReactorRuntime

/// The descriptors that a loop watches.
@Suite struct LoopWatchTests {
  @Test func `a number that is no open descriptor is refused, also if it is watched for nothing yet`() throws
  {
    let loop = try Loop()
    for readiness: Loop.Readiness in [.readable, []] {
      #expect(throws: WatchError.descriptorRefused(EBADF)) {
        try loop.watch(20_000_000, for: readiness) { _, _ in }
      }
    }
    loop.shutdown()
  }

  @Test func `the body runs on the loop as long as something can be read`() throws {
    let loop = try Loop()
    let sockets = SocketPair()
    let (bytes, isDone) = (Record<UInt8>(), Gate())
    let watch = try loop.watch(sockets.near, for: .readable) { watch, ready in
      // One byte at a time: what is left makes it ready again.
      guard loop.isCurrent, ready == .readable, let byte = sockets.read(), watch.descriptor == sockets.near
      else { return }
      bytes.append(byte)
      if byte == 9 { isDone.open() }
    }
    sockets.write(Array(0..<9))
    #expect(Threads.yield { bytes.elements.count == 9 })
    // The loop sleeps by now, or is about to.
    sockets.write([9])
    #expect(isDone.wait())
    #expect(bytes.elements == Array(0...9))
    watch.dispose()
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  @Test func `a body that ends other watches keeps theirs from being called`() throws {
    let loop = try Loop()
    let sockets = (0..<8).map { _ in SocketPair() }
    let (watches, calls) = (Record<Watch>(), Record<Int32>())
    // While the loop is busy, all become ready.
    let mayGoOn = try loop.hold()
    for pair in sockets {
      watches.append(
        try loop.watch(pair.near, for: .readable) { watch, _ in
          calls.append(watch.descriptor)
          for watch in watches.elements { watch.dispose() }
        })
      pair.write([1])
    }
    mayGoOn.open()
    #expect(Threads.yield { !calls.elements.isEmpty })
    #expect(Threads.start { loop.shutdown() }.wait())
    #expect(calls.elements.count == 1)
  }

  @Test func `descriptor 0 can be watched`() async {
    await #expect(processExitsWith: .success) {
      let sockets = SocketPair()
      precondition(dup2(sockets.near, 0) == 0)
      let (loop, isCalled) = (try Loop(), Gate())
      try loop.watch(0, for: .readable) { watch, _ in
        watch.dispose()
        isCalled.open()
      }
      sockets.write([1])
      precondition(isCalled.wait())
      loop.shutdown()
    }
  }

  @Test func `a watch for writing is called when there is room`() throws {
    let loop = try Loop()
    let sockets = SocketPair()
    let full = sockets.fill()
    let (calls, isWritable) = (Record<Loop.Readiness>(), Gate())
    try loop.watch(sockets.near, for: [.readable, .writable]) { watch, ready in
      calls.append(ready)
      watch.dispose()
      isWritable.open()
    }
    usleep(20_000)
    #expect(calls.elements.isEmpty)
    #expect(sockets.empty() == full)
    #expect(isWritable.wait())
    #expect(calls.elements == [.writable])
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  @Test(arguments: [WaitStrategy.parking, .parking(after: .zero), .spinning])
  func `a send, a job and a timer end the sleep of a loop that watches something`(_ waiting: WaitStrategy)
    throws
  {
    let loop = try Loop(waiting: waiting)
    let sockets = SocketPair()
    try loop.watch(sockets.near, for: .readable) { _, _ in _ = sockets.read() }
    let ran = Record<Int>()
    let reactor = Script(
      on: .loop(loop),
      mutate: { _, action in
        ran.append(action)
        return .empty()
      })
    for index in 0..<60 {
      // From a loop that sleeps to one that is about to sleep.
      usleep(UInt32(index % 6 * 40))
      switch index % 3 {
      case 0: reactor.send(index)
      case 1: try loop.execute { ran.append(index) }
      default: try loop.schedule(after: .microseconds(300)) { ran.append(index) }
      }
      #expect(Threads.yield(seconds: 20) { ran.elements.count == index + 1 })
    }
    #expect(ran.elements == Array(0..<60))
    if waiting != .spinning { #expect(loop.counters.parks > 10 && loop.counters.wakes > 0) }
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  @Test func `a send is not lost while the loop goes over to sleeping in the poller`() throws {
    for _ in 0..<200 {
      let loop = try Loop(waiting: .parking(after: .zero))
      let sockets = SocketPair()
      let isDone = Gate(count: 2)
      #expect(
        Threads.run(3, seconds: 60) { thread in
          if thread == 0 {
            _ = try? loop.watch(sockets.near, for: .readable) { _, _ in _ = sockets.read() }
          } else {
            try? loop.execute { isDone.open() }
          }
        })
      #expect(isDone.wait(seconds: 20))
      loop.shutdown()
    }
  }

  @Test
  func `a watch that is disposed of in its own body is not called again, and releases what it captures`()
    throws
  {
    let loop = try Loop()
    let sockets = SocketPair()
    let (calls, isDisposed) = (Record<Int>(), Gate())
    weak var captured: SocketPair?
    do {
      let extra = SocketPair()
      captured = extra
      try loop.watch(sockets.near, for: .readable) { [extra] watch, _ in
        calls.append(Int(extra.near))
        watch.dispose()
        isDisposed.open()
      }
    }
    sockets.write([1])
    #expect(isDisposed.wait())
    let isLater = Gate()
    try loop.schedule(after: .milliseconds(5)) { isLater.open() }
    #expect(isLater.wait())
    #expect(calls.elements.count == 1)
    #expect(captured == nil)
    // So it can be watched again.
    let isWatchedAgain = Gate()
    try loop.watch(sockets.near, for: .readable) { watch, _ in
      watch.dispose()
      isWatchedAgain.open()
    }
    #expect(isWatchedAgain.wait())
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  @Test func `a watch that was changed to nothing is not called, not even for the end of the other side`()
    throws
  {
    let loop = try Loop()
    let sockets = SocketPair()
    let (calls, isOver) = (Record<Loop.Readiness>(), Gate())
    let watch = try loop.watch(sockets.near, for: .readable) { watch, ready in
      calls.append(ready)
      watch.dispose()
      isOver.open()
    }
    try watch.change(to: [])
    sockets.closeFar()
    let isLater = Gate()
    try loop.schedule(after: .milliseconds(20)) { isLater.open() }
    #expect(isLater.wait())
    #expect(calls.elements.isEmpty)
    // Nor does the loop wake up for it again and again.
    #expect(Threads.yield { loop.counters.jobs == 1 })
    #expect(loop.counters.parks < 20)
    try watch.change(to: .readable)
    #expect(isOver.wait())
    #expect(calls.elements == [.readable])
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  @Test func `a watch is called for what it was changed to, and for nothing else`() throws {
    let loop = try Loop()
    let sockets = SocketPair()
    let calls = Record<Loop.Readiness>()
    let watch = try loop.watch(sockets.near, for: .readable) { watch, ready in
      // Not again before the next change.
      try? watch.change(to: [])
      calls.append(ready)
    }
    // There is room, and nothing to read.
    try watch.change(to: .writable)
    #expect(Threads.yield { calls.elements == [.writable] })
    sockets.write([1])
    let full = sockets.fill()
    try watch.change(to: .writable)
    // In one step to the other one: between the two the descriptor is watched.
    try watch.change(to: .readable)
    #expect(Threads.yield { calls.elements == [.writable, .readable] })
    let isLater = Gate()
    try loop.schedule(after: .milliseconds(5)) { isLater.open() }
    #expect(isLater.wait())
    #expect(calls.elements.count == 2)
    #expect(sockets.empty() == full)
    try watch.change(to: [.readable, .writable])
    #expect(Threads.yield { calls.elements == [.writable, .readable, [.readable, .writable]] })
    watch.dispose()
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  @Test func `shutting the loop down ends its watches and refuses later ones`() throws {
    let loop = try Loop()
    let sockets = SocketPair()
    let calls = Record<Int>()
    weak var captured: SocketPair?
    do {
      let extra = SocketPair()
      captured = extra
      try loop.watch(sockets.near, for: .readable) { [extra] _, _ in calls.append(Int(extra.near)) }
    }
    #expect(captured != nil)
    #expect(Threads.start { loop.shutdown() }.wait())
    #expect(captured == nil)
    sockets.write([1])
    #expect(calls.elements.isEmpty)
    #expect(throws: WatchError.closed) { try loop.watch(sockets.near, for: .readable) { _, _ in } }
  }

  @Test func `errors say why a descriptor is not watched`() throws {
    let loop = try Loop()
    let sockets = SocketPair()
    let watch = try loop.watch(sockets.near, for: .readable) { _, _ in }
    #expect(throws: WatchError.alreadyWatched) { try loop.watch(sockets.near, for: .writable) { _, _ in } }
    #expect(throws: WatchError.descriptorRefused(EBADF)) { try loop.watch(-1, for: .readable) { _, _ in } }
    #expect(throws: WatchError.descriptorRefused(EBADF)) { try loop.watch(9999, for: .readable) { _, _ in } }
    let file = open("/proc/self/exe", O_RDONLY)
    defer { close(file) }
    #expect(throws: WatchError.descriptorRefused(EPERM)) { try loop.watch(file, for: .readable) { _, _ in } }
    // The number of a closed descriptor belongs to somebody else, so the old watch must not touch it.
    watch.dispose()
    let again = try loop.watch(sockets.near, for: .readable) { _, _ in }
    watch.dispose()
    try watch.change(to: .writable)
    #expect(throws: WatchError.alreadyWatched) { try loop.watch(sockets.near, for: .readable) { _, _ in } }
    again.dispose()
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  @Test func `a busy reactor and a busy descriptor take turns`() throws {
    let loop = try Loop(turnLimit: 4)
    let sockets = SocketPair()
    let (sentToItself, wasReady) = (Shared(Atomic(0)), Shared(Atomic(0)))
    let (reactorGoesOn, watchGoesOn) = (Gate(), Gate())
    let busy = Script(
      on: .loop(loop),
      mutate: { reactor, action in
        sentToItself.value.add(1, ordering: .relaxed)
        if sentToItself.value.load(ordering: .relaxed) > 1000 { reactorGoesOn.open() }
        if !(reactorGoesOn.isOpen && watchGoesOn.isOpen) { reactor.send(action) }
        return .empty()
      })
    busy.send(1)
    // From here on each round has a turn.
    #expect(Threads.yield { sentToItself.value.load(ordering: .relaxed) > 100 })
    sockets.write([1])
    // Never read, so it is always ready.
    let watch = try loop.watch(sockets.near, for: .readable) { _, _ in
      wasReady.value.add(1, ordering: .relaxed)
      if wasReady.value.load(ordering: .relaxed) > 1000 { watchGoesOn.open() }
    }
    #expect(reactorGoesOn.wait())
    #expect(watchGoesOn.wait())
    watch.dispose()
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  @Test func `a thousand descriptors are watched at the same time`() throws {
    try withDescriptors(2200) {
      let loop = try Loop()
      let pairs = (0..<1000).map { _ in SocketPair() }
      let seen = LoopBound([Int32: Int](), to: loop)
      let isDone = Gate(count: 3000)
      for pair in pairs {
        try loop.watch(pair.near, for: .readable) { _, _ in
          while pair.read() != nil {
            seen.value[pair.near, default: 0] += 1
            isDone.open()
          }
        }
      }
      for round in 0..<3 { for pair in pairs { pair.write([UInt8(round)]) } }
      #expect(isDone.wait())
      let isCounted = Gate()
      try loop.execute {
        #expect(seen.value.count == 1000)
        #expect(seen.value.values.allSatisfy { $0 == 3 })
        isCounted.open()
      }
      #expect(isCounted.wait())
      #expect(Threads.start { loop.shutdown() }.wait())
    }
  }

  @Test func `a value that belongs to a loop stops the program elsewhere`() async throws {
    let loop = try Loop()
    let isDone = Gate()
    let numbers = LoopBound([1], to: loop)
    try loop.execute {
      numbers.value.append(2)
      let last = numbers.withValue { numbers in
        numbers.append(3)
        return numbers.last
      }
      if last == 3, numbers.value == [1, 2, 3] { isDone.open() }
    }
    #expect(isDone.wait())
    let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let loop = try Loop()
      LoopBound([1], to: loop).value.append(2)
    }
    #expect(stop?.standardErrorContent.says("that belongs to the loop") == true)
    let stop2 = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let loop = try Loop()
      LoopBound([1], to: loop).withValue { $0.append(2) }
    }
    #expect(stop2?.standardErrorContent.says("that belongs to the loop") == true)
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  @Test func `a watched descriptor makes a hosted loop readable`() throws {
    let hosted = try HostedLoop()
    let sockets = SocketPair()
    let bytes = Record<UInt8>()
    try hosted.loop.watch(sockets.near, for: .readable) { [loop = hosted.loop] _, _ in
      if loop.isCurrent, let byte = sockets.read() { bytes.append(byte) }
    }
    hosted.run()
    func isReadable() -> Bool {
      var watched = pollfd(fd: hosted.descriptor, events: Int16(POLLIN), revents: 0)
      return poll(&watched, 1, 0) == 1
    }
    #expect(!isReadable())
    sockets.write([1, 2, 3])
    #expect(isReadable())
    #expect(hosted.run() == 3)
    #expect(bytes.elements == [1, 2, 3])
    #expect(!isReadable())
    hosted.shutdown()
    #expect(throws: WatchError.closed) { try hosted.loop.watch(sockets.near, for: .readable) { _, _ in } }
  }

  @Test func `a descriptor can be watched on the main loop`() async throws {
    guard case .loop(let loop) = Placement.main else {
      Issue.record("the main loop is no loop")
      return
    }
    let sockets = SocketPair()
    let isCalled = Gate()
    try loop.watch(sockets.near, for: .readable) { watch, _ in
      watch.dispose()
      if MainLoop.isCurrent { isCalled.open() }
    }
    sockets.write([1])
    #expect(await eventually { isCalled.isOpen })
  }

  @Test func `what is ready of a descriptor that was closed is not for the next one with the same number`()
    throws
  {
    let watches = try LoopWatches(hasThread: true)
    let (first, second, calls) = (SocketPair(), SocketPair(), Record<Int>())
    let number = dup(first.near)
    let watch = try watches.add(number, .readable) { _, _ in calls.append(1) }
    first.write([1])
    watches.sleep(until: MonotonicTime.after(.seconds(patience)))
    // Found, and not delivered yet.
    watch.dispose()
    #expect(dup2(second.near, number) == number)
    let next = try watches.add(number, .readable) { _, _ in calls.append(2) }
    _ = watches.run(LoopMonitor())
    #expect(calls.elements == [])
    next.dispose()
    close(number)
  }
}

/// Runs `body` if the process may have so many more descriptors.
private func withDescriptors(_ count: UInt, _ body: () throws -> Void) throws {
  var limit = rlimit()
  getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  if limit.rlim_cur < count + 256 {
    limit.rlim_cur = min(limit.rlim_max, count + 1024)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
  try #require(limit.rlim_cur >= count)
  try body()
}
