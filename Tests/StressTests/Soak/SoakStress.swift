import ReactorCore
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

extension StressTests {
  /// Everything at once for a while: ten seconds, or five minutes in the long mode.
  @Suite struct SoakStress {
    static let workers = 4

    @Test
    func `a random mix of all operations loses no action, leaks no object and does not hang`() {
      Scenario.announce("soak")
      soak(Scenario("soak"))
    }

    private func soak(_ scenario: Scenario) {
      let end = ContinuousClock.now + .seconds(StressMode.current == .long ? 300 : 10)
      var resident: [Int] = []
      var number = 0
      var parcels = 0
      while .now < end {
        // Each round has its own time limit, so that one that hangs is found early.
        let watch = Watchdog.start(scenario, seconds: 120)
        parcels += round(number, scenario)
        Watchdog.stop(watch)
        resident.append(ResidentMemory.bytes())
        number += 1
      }
      writeToStandardError("stress: \(scenario): \(number) rounds, \(parcels) actions\n")
      // The memory of a sanitizer grows.
      if Build.isSanitized { return }
      // As in `FirstTouchStress`, it is a leak if the last measurements all exceed the first ones.
      if resident.count < 40 { return }
      let part = min(20, resident.count / 3)
      guard let most = resident.prefix(part).max(), let least = resident.suffix(part).min() else { return }
      #expect(least - most < 8 << 20, "\(scenario): \((least - most) >> 20) MiB more than before")
    }

    /// Plays one round. Returns how many actions were sent.
    private func round(_ number: Int, _ scenario: Scenario) -> Int {
      let streams = number * 16
      var generator = scenario.generator(streams)
      var board: SoakBoard? = SoakBoard(slots: 2 + generator.below(8), &generator)
      let (tally, reactors, observers) = (board!.tally, board!.reactors, board!.observers)
      let unfinished = play(board!, streams, &generator, scenario)
      board = nil
      let isGone = Threads.yield(seconds: 60) {
        tally.alive == 0 && reactors.alive == 0 && observers.alive == 0
      }
      let place = "\(scenario), round \(number)"
      #expect(
        isGone, "\(place): alive: \(tally.alive), reactors \(reactors.alive), observers \(observers.alive)")
      #expect(unfinished == nil, "\(place): \(unfinished ?? "")")
      let complaint = tally.complaint
      #expect(complaint == nil, "\(place): \(complaint ?? "")")
      return tally.made.load(ordering: .relaxed)
    }

    /// Runs the workers, then ends everything in one of several orders. Returns what did not end.
    private func play(
      _ board: SoakBoard, _ streams: Int, _ generator: inout SplitMix64, _ scenario: Scenario
    ) -> String? {
      let isOver = Gate()
      let host = Threads.start {
        board.runHosted(scenario.generator(streams + 1), until: { isOver.isOpen })
      }
      let crew = Crew(of: Self.workers) { index in
        var worker = SoakWorker(board, scenario.generator(streams + 2 + index))
        worker.run(steps: 150)
      }
      // Now and then a loop ends while the workers still send.
      if generator.happens(onceIn: 4) { end(board.pickLoop(&generator), &generator) }
      crew.join()
      if generator.happens(onceIn: 2) { board.clear() }
      // Acquiring: makes visible what the tasks did.
      let areTasksOver = Threads.yield(seconds: 60) { board.tasks.load(ordering: .acquiring) == 0 }
      #expect(areTasksOver, "\(scenario): \(board.tasks.load(ordering: .relaxed)) tasks wait for ever")
      isOver.open()
      #expect(host.wait())
      let unfinished = board.shutDown()
      board.clear()
      return unfinished
    }

    /// Ends a loop from outside, or from inside itself.
    private func end(_ loop: Loop, _ generator: inout SplitMix64) {
      switch generator.below(3) {
      case 0: loop.beginClosing()
      case 1: try? loop.execute { loop.shutdown() }
      default: try? loop.shutdown(before: .now + .milliseconds(50))
      }
    }
  }
}
