import ReactorCore

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// Ends the process, loudly, when a scenario takes too long: a lost wake-up must fail the run, not hang it.
enum Watchdog {
  private struct Watch {
    let id: Int
    let scenario: Scenario
    let deadline: ContinuousClock.Instant
  }

  private struct Watches {
    var running: [Watch] = []
    var nextID = 0
    var hasThread = false
  }

  private static let watches = Guarded(Watches())

  static func start(_ scenario: Scenario, seconds: Int) -> Int {
    watches.with { watches in
      if !watches.hasThread {
        watches.hasThread = true
        _ = DedicatedThread(named: "watchdog") { watch() }
      }
      watches.nextID += 1
      let deadline = ContinuousClock.now + .seconds(seconds)
      watches.running.append(Watch(id: watches.nextID, scenario: scenario, deadline: deadline))
      return watches.nextID
    }
  }

  static func stop(_ id: Int) { watches.with { $0.running.removeAll { $0.id == id } } }

  private static func watch() {
    while true {
      usleep(200_000)
      let late = watches.with { watches in watches.running.first { $0.deadline < .now } }
      guard let late else { continue }
      writeToStandardError(
        """
        Problem: the stress scenario \(late.scenario) did not end in time.
        Likely cause: a lost wake-up, a lost action, or a deadlock.
        Remedy: run it again with this seed; the core file, or a debugger, shows who waits for whom.

        """)
      abort()
    }
  }
}

/// One write, so that two threads' messages do not mix.
func writeToStandardError(_ text: String) {
  var text = text
  text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
