// The main thread goes away, and the pool of Dispatch runs the main queue.
import Dispatch
import Glibc
import MainLoopSupport
import TestSupport

let findings = Findings(isOnTheMainThread: false)
_ = Threads.start {
  MainLoopChecks(findings).runAll()
  exit(findings.status)
}
dispatchMain()
