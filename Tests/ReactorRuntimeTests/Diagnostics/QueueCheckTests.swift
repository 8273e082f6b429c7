#if DEBUG
  import Dispatch
  import Glibc
  import TestSupport
  import Testing

  @testable import ReactorRuntime

  @Suite struct QueueCheckTests {
    private final class Stalled {}
    private final class Running {}
    private final class Late {}

    @Test func `a queue that does not run causes one warning, which names what waits there`() {
      let hooked = HookedWarnings(about: Stalled.self)
      let queue = DispatchQueue(label: "stalled")
      queue.suspend()
      // A queue must not go away while it is suspended.
      defer { queue.resume() }
      let delays = Delays()
      let check = QueueCheck(of: queue, patience: .milliseconds(20), after: delays.callAfter)
      for _ in 0..<3 { check.begin(for: Stalled.self) }
      #expect(delays.durations == [.milliseconds(20)])
      delays.end()
      #expect(hooked.kinds == [])
      #expect(delays.durations == [.seconds(1)])
      delays.end()
      #expect(hooked.kinds == [.stalledMainQueue])
      #expect(hooked.warnings.first?.problem.contains("Stalled") == true)
      #expect(hooked.warnings.first?.problem.contains("0.02 seconds") == true)
      #expect(delays.durations == [])
    }

    @Test func `a queue that runs causes none`() {
      let hooked = HookedWarnings(about: Running.self)
      let (queue, delays) = (DispatchQueue(label: "running"), Delays())
      let check = QueueCheck(of: queue, patience: .milliseconds(20), after: delays.callAfter)
      check.begin(for: Running.self)
      queue.sync {}
      delays.end()
      #expect(delays.durations == [])
      #expect(hooked.kinds == [])
    }

    @Test
    func `a queue that runs soon after the end of the patience causes none, as after a stop of the process`()
    {
      let hooked = HookedWarnings(about: Late.self)
      let (queue, delays) = (DispatchQueue(label: "late"), Delays())
      queue.suspend()
      let check = QueueCheck(of: queue, patience: .milliseconds(20), after: delays.callAfter)
      check.begin(for: Late.self)
      delays.end()
      queue.resume()
      queue.sync {}
      delays.end()
      #expect(hooked.kinds == [])
    }

    @Test(arguments: MainQueueUser.allCases)
    func `what is left to a main queue that does not run causes a warning`(user: MainQueueUser) async {
      await #expect(processExitsWith: .exitCode(42)) { [user = user.rawValue as String] in
        Hooks.warningHandler = { warning in if warning.kind == .stalledMainQueue { exit(42) } }
        QueueCheck.main.patience = .milliseconds(20)
        let isStalled = Gate()
        let block: @Sendable () -> Void = {
          isStalled.open()
          sleep(120)
        }
        DispatchQueue.main.async(execute: block)
        _ = isStalled.wait()
        MainQueueUser(rawValue: user)?.leaveSomething()
        sleep(60)
        exit(1)
      }
    }

    enum MainQueueUser: String, CaseIterable, Sendable {
      case action, laterAction, delayedAction, repeatedAction, job, watch

      func leaveSomething() {
        switch self {
        case .action: _ = MainScheduler.instance.schedule {}
        case .laterAction: _ = MainScheduler.asyncInstance.schedule {}
        case .delayedAction: _ = MainScheduler.instance.schedule(after: .seconds(1)) {}
        case .repeatedAction:
          _ = MainScheduler.instance.schedulePeriodic(after: .seconds(1), every: .seconds(1)) {}
        case .job: try? MainLoop.execute {}
        case .watch:
          var ends: [Int32] = [0, 0]
          pipe(&ends)
          _ = try? MainLoop.watch(ends[0], for: .readable) {}
        }
      }
    }
  }
#endif
