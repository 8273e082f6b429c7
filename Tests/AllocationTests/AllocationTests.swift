import Foundation
import TestSupport
import Testing

/// What an action allocates, counted by the allocator, with a bound from below and one from above: an
/// improvement must be written down here, and a regression is found.
///
/// The executable `allocations` measures, one process for each: see there why.
@Suite(
  .serialized,
  .enabled(if: Build.isOptimized, "without optimisation the generic code is not specialised, and allocates"),
  .enabled(if: !Build.isSanitized, "a sanitizer brings an allocator of its own, which does not count"))
struct AllocationTests {
  /// So many a measurement may make for itself, above all for its threads, spread over its actions.
  static let none = 0...0.005
  static let one = 0.99...1.05

  @Test(
    arguments: [
      // The control: one object for each action, which must be found.
      ("oneObjectPerAction", one),
      ("ringSingle", none), ("ringBatch", none), ("lane", none),
      ("callerSynchronous", none), ("callerFanIn", none), ("loopFanIn", none), ("reentrant", none),
      ("empty", none), ("just", none), ("ofTwo", none), ("ofThree", none), ("ofFour", none),
      // The array.
      ("from", one), ("concatOfKnown", one),
      ("observedOnce", none), ("observedFourTimes", none), ("observedDistinct", none), ("byAction", none),
      ("transformed", none), ("attached", none),
    ])
  func `per action`(_ work: (name: String, expected: ClosedRange<Double>)) throws {
    let output = Pipe()
    let process = Process()
    // Built into the same folder as the tests.
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
