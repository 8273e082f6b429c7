import ReactorRuntime
import Testing

extension Controlled {
  /// Timers of loops: each runs once, in time, unless it was disposed of or its loop was closed before.
  @Suite struct TimerTests {
    @Test(arguments: Place.timed) func `a timer that is due runs, whatever is set or cancelled beside it`(
      _ place: Place
    ) {
      explore("timers beside a disposal, \(place)") {
        let jobs = JobLedger()
        place.use { placement in
          guard case .loop(let loop) = placement else { return }
          let last = jobs.schedule(3, after: .seconds(3), on: loop)
          let cancelled = jobs.schedule(1, after: .seconds(1), on: loop)
          nonisolated(unsafe) var earlier: JobLedger.Timer?
          together(
            {
              sleep(.seconds(1))
              jobs.execute(0, on: loop) { cancelled?.dispose(on: loop) }
            },
            {
              // The loop sleeps until a later one is due.
              sleep(.milliseconds(500))
              earlier = jobs.schedule(2, after: .milliseconds(1500), on: loop)
            })
          jobs.verifyAtRest()
          last?.verifyRun()
          earlier?.verifyRun()
        }
        jobs.verify()
      }
    }

    @Test func `a timer runs once, or was cancelled`() {
      explore("a timer, its disposal, and a closer") {
        let jobs = JobLedger()
        Place.loop.use { placement in
          guard case .loop(let loop) = placement else { return }
          nonisolated(unsafe) var runs = 0
          let timer = try? loop.schedule(after: .seconds(1)) {
            runs += 1
            jobs.execute(0, on: loop)
          }
          together(
            {
              sleep(.milliseconds(1500))
              timer?.dispose()
            },
            { jobs.execute(1, on: loop) },
            {
              sleep(.seconds(1))
              jobs.shutDown(loop)
            })
          check(runs <= 1, "a timer ran \(runs) times")
        }
        jobs.verify()
      }
    }

    /// A timer may come between two steps of the round that finds the loop closed: the loop does not wait for it.
    @Test func `a loop that is shut down does not wait for timers that are set meanwhile`() {
      explore("timers beside a closer", schedules: 1000) {
        let jobs = JobLedger()
        Place.loop.use { placement in
          guard case .loop(let loop) = placement else { return }
          // With the first one the loop has something to do when it finds that it is closed.
          nonisolated(unsafe) var timers = [jobs.schedule(0, after: .seconds(3600), on: loop)]
          together(
            {
              timers.append(jobs.schedule(1, after: .seconds(3600), on: loop))
              jobs.shutDown(loop)
            },
            { timers.append(jobs.schedule(2, after: .seconds(3600), on: loop)) })
          check(jobs.alive == 0, "a loop that has ended keeps what \(jobs.alive) timers captured")
        }
        jobs.verify()
      }
    }
  }
}
