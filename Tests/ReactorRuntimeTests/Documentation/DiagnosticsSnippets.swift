import Glibc
import ReactorRuntime
import TestSupport
import Testing

// The code of the article "Diagnostics".

private struct Unreachable: Error {}

private final class Client: Reactor {
  typealias Action = Int
  typealias State = Int
  let initialState = 0
  let runtime: Runtime<Int, Int, Int>

  init(_ runtime: Runtime<Int, Int, Int>) { self.runtime = runtime }

  var expectedThread: ExpectedThread? { .main }

  func mutate(action: Int) -> Observable<Int> { .error(Unreachable()) }
  func reduce(into state: inout Int, mutation: Int) {}
}

private final class Counting: Reactor {
  typealias Action = Int
  let initialState = 0
  let runtime = Runtime<Int, Int, Int>()
  func reduce(into state: inout Int, mutation: Int) { state += mutation }
}

@Suite struct DiagnosticsSnippets {
  @Test func `a failure contains the cause and the action`() {
    let lost = Record<String>()
    let runtime = Runtime<Int, Int, Int>(onFailure: { failure in
      lost.append("\(failure.cause): \(failure.action ?? "no action")")
    })
    Client(runtime).send(7)
    #expect(lost.elements.count == 1)
    #expect(lost.elements.first?.hasPrefix("mutate(") == true)
    #expect(lost.elements.first?.hasSuffix("Unreachable()): 7") == true)
  }

  @Test func `a reactor and its loop count what they do`() throws {
    let counter = Counting()
    for number in 1...3 { counter.send(number) }
    let counters = counter.counters
    #expect(
      "\(counters)"
        == """
        sent 3, waiting 0, processed 3, dropped 0, turns 3, largest turn 1, held states 0, deferred states 0, \
        copied states 0
        """)
    let loop = try Loop(name: "orders")
    try loop.execute {}
    loop.shutdown()
    #expect("\(loop.counters)".hasPrefix("orders: turns 0, actions 0, jobs 1, longest "))
  }

  @Test(.enabled(if: !Build.isOptimized, "only debug builds warn"))
  func `a reactor that expects the main thread causes a warning on other threads`() async {
    // In a process of its own, because the handler is global.
    await #expect(processExitsWith: .success) {
      let warnings = Record<Warning>()
      Hooks.warningHandler = { warnings.append($0) }
      let client = Client(Runtime(onFailure: { _ in }))
      #expect(Threads.run(1) { _ in client.send(1) })
      // On a loaded machine there may be one about a long turn as well.
      exit(warnings.elements.contains { $0.kind == .unexpectedThread } ? EXIT_SUCCESS : EXIT_FAILURE)
    }
  }
}
