import Foundation
import TestSupport
import Testing

/// How many allocations an action makes, as the allocator counts them. There is an upper bound, which finds a
/// regression, and a lower one, so that an improvement must be recorded here.
///
/// The executable `allocations` measures, in one process for each kind of work; its comments say why.
@Suite(
  .serialized,
  .enabled(if: Build.isOptimized, "without optimisation the generic code is not specialised, and allocates"),
  .enabled(if: !Build.isSanitized, "a sanitizer brings an allocator of its own, which does not count"))
struct AllocationTests {
  /// The allocations of a measurement itself, above all for its threads, per action.
  static let none = 0...0.005
  static let one = 0.99...1.05
  static let atMostOne = 0...1.05
  static let three = 2.99...3.05

  @Test(
    arguments: [
      // The control: one object for each action, which must be counted.
      ("oneObjectPerAction", one),
      ("ringSingle", none), ("ringBatch", none), ("lane", none),
      ("callerSynchronous", none), ("callerFanIn", none), ("loopFanIn", none), ("reentrant", none),
      ("hosted", none), ("reading", none),
      ("empty", none), ("just", none), ("ofTwo", none), ("ofThree", none), ("ofFour", none),
      // The array.
      ("from", one), ("concatOfKnown", one),
      ("observedOnce", none), ("observedFourTimes", none), ("observedDistinct", none), ("byAction", none),
      ("transformed", none), ("attached", none),
      // The reply, on a thread of Swift's pool: the allocator counts there with a delay.
      ("askedByTask", atMostOne),
      // The reply; and what holds the completion, which is wrapped for its generic type.
      ("askedWithCompletion", three),
    ])
  func `each kind of action allocates the recorded number`(
    _ work: (name: String, expected: ClosedRange<Double>)
  ) throws {
    let output = Pipe()
    let process = Process()
    // The executable is built into the same folder as the tests.
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appendingPathComponent("allocations")
    process.arguments = [work.name]
    process.standardOutput = output
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    let text = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    let perAction = try #require(Double(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    #expect(work.expected.contains(perAction))
  }
}
