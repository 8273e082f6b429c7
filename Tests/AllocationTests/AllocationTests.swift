import Foundation
import TestSupport
import Testing

private let givenExecutable = ProcessInfo.processInfo.environment["RR_ALLOCATIONS"]

/// How many allocations an action makes, and how many bytes a reactor takes, as the allocator counts them. There is an upper
/// bound, which finds a regression, and a lower one, so that an improvement must be recorded here.
///
/// The executable `allocations` measures, in one process for each kind of work; its comments say why. `RR_ALLOCATIONS` names an
/// optimized one of the same core, for tests that are not optimized.
@Suite(
  .serialized,
  .enabled(
    if: Build.isOptimized || givenExecutable != nil,
    "without optimisation the generic code is not specialised, and allocates"),
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
      ("hosted", none), ("reading", none), ("callerBesideJournal", none), ("hostedBesideJournal", none),
      ("empty", none), ("just", none), ("ofTwo", none), ("ofThree", none), ("ofFour", none),
      // The array.
      ("from", one), ("concatOfKnown", one),
      ("passedOn", none), ("observedOnce", none), ("observedFourTimes", none), ("observedDistinct", none),
      ("byAction", none),
      ("transformed", none), ("attached", none),
      // The reply, on a thread of Swift's pool: the allocator counts there with a delay.
      ("askedByTask", atMostOne),
      // The reply; and what holds the completion, which is wrapped for its generic type.
      ("askedWithCompletion", three),
    ])
  func `each kind of action allocates the recorded number`(
    _ work: (name: String, expected: ClosedRange<Double>)
  ) throws {
    // Up to three times: where the system suspends a thread, the others sleep, and each sleep allocates.
    var found: [Double] = []
    repeat {
      found.append(try measure(work.name))
    } while found.count < 3 && !work.expected.contains(found.last!)
    #expect(work.expected.contains(found.last!), "found \(found)")
  }

  /// Beyond the object itself. Half of a size class of the allocator, which is 16 bytes at the least, is for what all share.
  private static func bytes(_ recorded: Double) -> ClosedRange<Double> { recorded - 8...recorded + 8 }

  @Test(
    arguments: [
      ("newOnCaller", bytes(320)), ("usedOnCaller", bytes(320)), ("closedOnCaller", bytes(368)),
      ("newOnLoop", bytes(320)),
      // With a mailbox, whose ring belongs to the core.
      ("usedOnLoop", bytes(Build.isPureSwift ? 1008 : 880)),
    ])
  func `each kind of reactor takes the recorded number of bytes`(
    _ work: (name: String, expected: ClosedRange<Double>)
  ) throws {
    #expect(work.expected.contains(try measure(work.name)))
  }

  /// Runs the executable, and returns the number that it prints.
  private func measure(_ work: String) throws -> Double {
    let output = Pipe()
    let process = Process()
    // Otherwise the one that is built into the same folder as the tests.
    process.executableURL =
      givenExecutable.map { URL(fileURLWithPath: $0) }
      ?? URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appendingPathComponent("allocations")
    process.arguments = [work]
    process.standardOutput = output
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    let text = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    return try #require(Double(text.trimmingCharacters(in: .whitespacesAndNewlines)))
  }
}
