import AllocationCounting
import Foundation
import TestSupport

/// Measures how many allocations one action makes, and prints that number: `allocations WORK`. With a number of actions, it
/// only carries those out, for a program that counts its instructions: see Scripts/instructions.
///
/// It is an executable of its own because the allocator counts for the whole process, and because a program that links
/// that allocator cannot run under a sanitizer, as the tests must.
@main
enum Allocations {
  static func main() throws {
    let arguments = CommandLine.arguments
    guard (2...3).contains(arguments.count), let work = Work(rawValue: arguments[1]) else {
      fail("usage: allocations WORK [ACTIONS]", status: 2)
    }
    if arguments.count == 3 {
      guard let actions = Int(arguments[2]), actions > 0 else {
        fail("allocations: '\(arguments[2])' is no number of actions", status: 2)
      }
      return try work.run(actions)
    }
    guard let counter = AllocationCounter(cores: 2) else {
      fail("allocations: allocations cannot be counted here", status: 3)
    }
    print(try work.allocationsPerAction(countedBy: counter))
  }

  private static func fail(_ message: String, status: Int32) -> Never {
    FileHandle.standardError.write(Data((message + "\n").utf8))
    exit(status)
  }
}
