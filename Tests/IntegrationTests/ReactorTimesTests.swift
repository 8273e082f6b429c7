#if Metrics
  import Metrics
  import MetricsTestKit
  import ReactorCore
  import ReactorRuntime
  import TestSupport
  import Testing

  private final class Sleeping: Reactor {
    typealias Action = Int
    typealias State = Int
    let initialState = 0
    let runtime: Runtime<Int, Int, Int>
    init(on placement: Placement = .caller, capacity: Int = 64) {
      runtime = Runtime(on: placement, capacity: capacity, overflow: .fail, onFailure: { _ in })
    }
    /// Sleeps for that many milliseconds.
    func reduce(into state: inout Int, mutation: Int) {
      let end = ContinuousClock.now + .milliseconds(mutation)
      while .now < end { DedicatedThread.yield() }
      state += 1
    }
  }

  @Suite struct ReactorTimesTests {
    private let metrics = TestMetrics()

    private func nanoseconds(_ label: String) throws -> [Int64] {
      try metrics.expectTimer(label, [("shard", "1")]).values
    }

    @Test(arguments: [1, 4])
    func `of some turns the time is recorded`(_ interval: Int) throws {
      let reactor = Sleeping()
      let meters = CounterMeters(factory: metrics)
      meters.addTimes("orders", dimensions: [("shard", "1")], of: reactor, every: interval)
      for _ in 0..<9 { reactor.send(2) }
      let times = try nanoseconds("orders_turn_time")
      #expect(times.count == (interval == 1 ? 9 : 3))
      #expect(times.allSatisfy { (2_000_000..<60_000_000_000).contains($0) })
      #expect(try nanoseconds("orders_queue_delay") == [])
    }

    @Test func `turns of a loop are timed and those without work are not`() throws {
      let loop = try Loop()
      let reactor = Sleeping(on: .loop(loop))
      let meters = CounterMeters(factory: metrics)
      meters.addTimes("orders", dimensions: [("shard", "1")], of: reactor, every: 1)
      for round in 1...5 {
        reactor.send(1)
        #expect(Threads.yield { reactor.currentState == round })
      }
      loop.shutdown()
      let times = try nanoseconds("orders_turn_time")
      #expect(times.count == reactor.counters.turns)
      #expect(times.allSatisfy { $0 >= 1_000_000 })
    }

    @Test func `a probe waits behind what was sent before and counts for those that were due meanwhile`()
      throws
    {
      let hosted = try HostedLoop()
      let reactor = Sleeping(on: hosted.placement)
      let meters = CounterMeters(factory: metrics)
      meters.addTimes("orders", dimensions: [("shard", "1")], of: reactor)
      meters.record()
      let isLater = ContinuousClock.now + .milliseconds(5)
      #expect(Threads.yield { .now > isLater })
      reactor.send(3)
      meters.record()
      hosted.run()
      // One probe, which came before the action, for both times.
      let delays = try nanoseconds("orders_queue_delay")
      try #require(delays.count == 2)
      #expect(delays[0] >= 5_000_000)
      #expect(delays[0] - delays[1] >= 5_000_000)
      #expect(reactor.counters.processed == 2)
      reactor.send(3)
      meters.record()
      hosted.run()
      #expect(try nanoseconds("orders_queue_delay").last ?? 0 >= 3_000_000)
    }

    @Test func `a probe that finds no room is recorded when one gets through`() throws {
      let hosted = try HostedLoop()
      let reactor = Sleeping(on: hosted.placement, capacity: 8)
      let meters = CounterMeters(factory: metrics)
      meters.addTimes("orders", dimensions: [("shard", "1")], of: reactor)
      for _ in 0..<8 { reactor.send(0) }
      meters.record()
      hosted.run()
      #expect(try nanoseconds("orders_queue_delay") == [])
      meters.record()
      hosted.run()
      #expect(try nanoseconds("orders_queue_delay").count == 2)
    }

    @Test func `the timers go away with the reactor or its end`() throws {
      let meters = CounterMeters(factory: metrics)
      for closes in [true, false] {
        do {
          let reactor = Sleeping()
          meters.addTimes("orders", of: reactor)
          meters.record()
          #expect(metrics.timers.count == 2)
          if closes {
            reactor.close()
            meters.record()
            #expect(metrics.timers.isEmpty)
          }
          withExtendedLifetime(reactor) {}
        }
        meters.record()
        #expect(metrics.timers.isEmpty)
      }
    }

    @Test func `the timers that reactors share go with the last of them`() throws {
      let meters = CounterMeters(factory: metrics)
      let reactors = (0..<3).map { _ in Sleeping() }
      for reactor in reactors {
        meters.addTimes("sessions", dimensions: [("shard", "1")], of: reactor, every: 1)
      }
      meters.record()
      reactors[0].close()
      meters.record()
      #expect(metrics.timers.count == 2)
      reactors[1].send(0)
      #expect(try metrics.expectTimer("sessions_turn_time", [("shard", "1")]).values.count >= 1)
      for reactor in reactors { reactor.close() }
      meters.record()
      #expect(metrics.timers.isEmpty)
    }

    @Test func `measuring the turns of a reactor twice stops the program`() async {
      let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let (reactor, meters) = (Sleeping(), CounterMeters(factory: TestMetrics()))
        meters.addTimes("orders", of: reactor)
        meters.addTimes("orders", of: reactor)
      }
      #expect(stop?.standardErrorContent.says("are to be measured twice") == true)
    }
  }
#endif
