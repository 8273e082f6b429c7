import Glibc
import ReactorRuntime
import Testing

/// Tests of the default failure handler, which writes to standard error.
@Suite struct FailurePrintingTests {
  @Test func `ten failures are printed, and the others are counted, even when the process exits`()
    async throws
  {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      final class Closed: Reactor {
        typealias Action = Int
        typealias State = Int
        let initialState = 0
        let runtime: Runtime<Int, Int, Int>
        init(on loop: Loop) { runtime = Runtime(on: .loop(loop)) }
        func reduce(into state: inout Int, mutation: Int) {}
      }
      let loop = try Loop()
      let reactor = Closed(on: loop)
      loop.shutdown()
      for action in 0..<25 { reactor.send(action) }
      // A program that returns from its main function exits in the same way.
      exit(EXIT_SUCCESS)
    }
    let lines = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
      .split(separator: "\n")
    #expect(lines.count { $0.contains("was not delivered.") } == 10)
    #expect(lines.contains { $0.contains("the action 9, sent to") })
    let sums = lines.filter { $0.contains("more times within a second") }
    // One sum, unless the machine is so busy that the process takes longer than a second.
    #expect(sums.allSatisfy { $0.contains("more times within a second: an action was not delivered") })
    let counts = sums.compactMap { line in line.split(separator: " ").compactMap { Int($0) }.first }
    #expect(counts.reduce(0, +) == 15)
  }
}
