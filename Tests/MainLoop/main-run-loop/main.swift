// The main thread runs Foundation's run loop; and before, MainLoop.run() with bodies that run Foundation's run loop.
import Foundation
import MainLoopSupport
import TestSupport

let findings = Findings(isOnTheMainThread: true)
NestedRunLoopChecks(findings).runAll()
_ = Threads.start {
  RunChecks.refusesInsideOfABlock(findings)
  MainLoopChecks(findings).runAll()
  exit(findings.status)
}
RunLoop.main.run()
