import Glibc
import ReactorCore
import ReactorRuntime
import TestSupport

/// What holds for watched descriptors whose numbers are used again. Runs on a thread of its own, not the main thread.
struct WatchChecks: Sendable {
  private let findings: Findings

  init(_ findings: Findings) { self.findings = findings }

  func runAll() {
    eventOfAnEarlierDescriptor()
    closedTooEarly()
  }

  /// A pipe. What a check opens stays open until the end of the program.
  private struct Pipe: Sendable {
    let reading: Int32
    let writing: Int32

    init() {
      var ends: [Int32] = [-1, -1]
      _ = pipe(&ends)
      (reading, writing) = (ends[0], ends[1])
    }

    func write() { _ = Glibc.write(writing, "x", 1) }
  }

  private func watch(
    _ descriptor: Int32, for readiness: MainLoop.Readiness = .readable, _ body: @escaping @Sendable () -> Void
  ) -> SerialDisposable {
    let watch = SerialDisposable()
    do throws(MainLoopError) {
      watch.disposable = try MainLoop.watch(descriptor, for: readiness, body)
    } catch {
      findings.expect(false, "a descriptor is watched: \(error)")
    }
    return watch
  }

  /// Two descriptors are ready at once. The body of the first one that is called ends both watches, and another pipe gets the
  /// number of the second one.
  private func eventOfAnEarlierDescriptor() {
    let pipes = [Pipe(), Pipe()]
    let other = Pipe()
    let watches = [SerialDisposable(), SerialDisposable()]
    let (calls, laterCalls) = (Record<Int>(), Record<Bool>())
    let (isChecked, isCalled) = (Gate(), Gate())
    let replace: @Sendable (Int32) -> Void = { number in
      for watch in watches { watch.dispose() }
      findings.expect(dup2(other.reading, number) == number, "a number is used again")
      let mayBeCalled = Record<Bool>()
      let later = SerialDisposable()
      later.disposable = watch(number) {
        laterCalls.append(!mayBeCalled.elements.isEmpty)
        later.dispose()
        isCalled.open()
      }
      // A job comes in a later round.
      try? MainLoop.execute {
        mayBeCalled.append(true)
        isChecked.open()
        other.write()
      }
    }
    // In a job, so that both are ready when the main loop polls next.
    try? MainLoop.execute {
      for pipe in pipes { pipe.write() }
      for index in 0...1 {
        watches[index].disposable = watch(pipes[index].reading) {
          calls.append(index)
          replace(pipes[1 - index].reading)
        }
      }
    }
    findings.expect(isChecked.wait(), "a watch is called")
    findings.expect(isCalled.wait(), "a watch of a number that is used again is called")
    findings.expect(calls.elements.count == 1, "a watch that another body has ended is not called")
    findings.expect(
      laterCalls.elements == [true],
      "a watch is not called for what was ready before it: \(laterCalls.elements)")
  }

  /// A user closes a descriptor before its watches are disposed of, which is wrong.
  private func closedTooEarly() {
    let lifetimes = Lifetimes()
    let (first, second) = (Pipe(), Pipe())
    do {
      let tracked = lifetimes.track()
      let watches = [
        watch(first.reading) { _ = tracked }, watch(first.reading, for: .writable) { _ = tracked },
      ]
      close(first.reading)
      for watch in watches { watch.dispose() }
    }
    findings.expect(lifetimes.alive == 0, "what the bodies hold is released")
    findings.expect(dup2(second.reading, first.reading) == first.reading, "a number is used again")
    second.write()
    let isCalled = Gate()
    let later = SerialDisposable()
    later.disposable = watch(first.reading) {
      later.dispose()
      isCalled.open()
    }
    findings.expect(isCalled.wait(seconds: 10), "a watch of a number that was closed too early is called")
  }
}
