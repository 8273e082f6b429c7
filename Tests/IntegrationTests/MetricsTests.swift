#if Metrics
  import Metrics
  import MetricsTestKit
  import ReactorCore
  import ReactorRuntime
  import TestSupport
  import Testing

  private struct Counters: Sendable {
    let name = "not a number"
    var turns: Int
    var longestTurn: Duration
    var batches: [Int] = []
  }

  @Suite struct MetricsTests {
    private let metrics = TestMetrics()

    @Test func `each number is a meter of its own and is set each time`() throws {
      let counters = SystemMutex(Counters(turns: 3, longestTurn: .milliseconds(250)))
      let meters = CounterMeters(factory: metrics)
      meters.add("orders", dimensions: [("loop", "a")]) { counters.withLock { $0 } }
      meters.record()
      #expect(metrics.meters.map(\.label).sorted() == ["orders_longest_turn", "orders_turns"])
      #expect(try metrics.expectMeter("orders_turns", [("loop", "a")]).lastValue == 3)
      #expect(try metrics.expectMeter("orders_longest_turn", [("loop", "a")]).lastValue == 0.25)
      counters.withLock { $0.turns = 5 }
      meters.record()
      #expect(try metrics.expectMeter("orders_turns", [("loop", "a")]).values == [3, 5])
    }

    @Test func `a source that is gone is forgotten with its meters`() throws {
      let isThere = SystemMutex(true)
      let reads = Record<Bool>()
      let meters = CounterMeters(factory: metrics)
      meters.add("reactor") {
        let counters = isThere.withLock { $0 } ? Counters(turns: 1, longestTurn: .zero) : nil
        reads.append(counters != nil)
        return counters
      }
      meters.record()
      isThere.withLock { $0 = false }
      meters.record()
      meters.record()
      #expect(reads.elements == [true, false])
      #expect(metrics.meters.isEmpty)
    }

    @Test func `meters that sources share go with the last of them`() throws {
      let living = SystemMutex(["a", "b"])
      let meters = CounterMeters(factory: metrics)
      for name in ["a", "b"] {
        meters.add("sessions") {
          living.withLock { $0.contains(name) } ? Counters(turns: 1, longestTurn: .zero) : nil
        }
      }
      meters.record()
      #expect(metrics.meters.count == 2)
      living.withLock { $0 = ["b"] }
      meters.record()
      #expect(metrics.meters.count == 2)
      living.withLock { $0 = [] }
      meters.record()
      #expect(metrics.meters.isEmpty)
    }

    @Test func `meters are set periodically until the recording is disposed of`() throws {
      let meters = CounterMeters(factory: metrics)
      let reads = Record<Void>()
      meters.add("loop") {
        reads.append(())
        return Counters(turns: 1, longestTurn: .zero)
      }
      let recording = meters.record(every: .milliseconds(1))
      #expect(Threads.yield { reads.elements.count > 2 })
      recording.dispose()
    }
  }
#endif
