// The main thread runs MainLoop.run().
import Glibc
import MainLoopSupport
import TestSupport

let findings = Findings(isOnTheMainThread: true)
RunChecks(findings).runAll()
exit(findings.status)
