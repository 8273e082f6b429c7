// The main thread calls dispatchMain(): it goes away, and a pool of threads of Dispatch runs the main queue.
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
