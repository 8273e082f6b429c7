#if DEBUG
  import Dispatch
  import Glibc
  import TestSupport
  import Testing

  @testable import ReactorRuntime

  @Suite struct QueueCheckTests {
    private final class Stalled {}
    private final class Running {}

    @Test func `a queue that does not run causes one warning, which names what waits there`() async {
      let hooked = HookedWarnings(about: Stalled.self)
      let queue = DispatchQueue(label: "stalled")
      queue.suspend()
      // A queue must not go away while it is suspended.
      defer { queue.resume() }
      let check = QueueCheck(of: queue, patience: .milliseconds(20))
      for _ in 0..<3 { check.begin(for: Stalled.self) }
      #expect(await eventually { hooked.kinds == [.stalledMainQueue] })
      #expect(hooked.warnings.first?.problem.contains("Stalled") == true)
      #expect(hooked.warnings.first?.problem.contains("0.02 seconds") == true)
      // Those of the other calls would come at the same time.
      #expect(hooked.warnings.reduce(0) { $0 + $1.count } == 1)
    }

    @Test func `a queue that runs causes none`() async {
      let hooked = HookedWarnings(about: Running.self)
      let check = QueueCheck(of: DispatchQueue(label: "running"), patience: .milliseconds(20))
      check.begin(for: Running.self)
      let isOver = Gate()
      DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(100)) { isOver.open() }
      #expect(await eventually { isOver.isOpen })
      #expect(hooked.kinds == [])
    }

    // The patience of the main queue's check is ten seconds.
    @Test(arguments: MainQueueUser.allCases)
    func `what is left to a main queue that does not run causes a warning`(user: MainQueueUser) async {
      await #expect(processExitsWith: .exitCode(42)) { [user = user.rawValue as String] in
        Hooks.warningHandler = { warning in if warning.kind == .stalledMainQueue { exit(42) } }
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
      case action, laterAction, delayedAction, repeatedAction, mainLoop

      func leaveSomething() {
        switch self {
        case .action: _ = MainScheduler.instance.schedule {}
        case .laterAction: _ = MainScheduler.asyncInstance.schedule {}
        case .delayedAction: _ = MainScheduler.instance.schedule(after: .seconds(1)) {}
        case .repeatedAction:
          _ = MainScheduler.instance.schedulePeriodic(after: .seconds(1), every: .seconds(1)) {}
        case .mainLoop: try? MainLoop.execute {}
        }
      }
    }
  }
#endif
