import AllocationCounting
import Foundation
import TestSupport

/// Measures how many allocations one action makes, and prints that number: `allocations WORK`.
///
/// It is an executable of its own because the allocator counts for the whole process, and because a program that links
/// that allocator cannot run under a sanitizer, as the tests must.
@main
enum Allocations {
  static func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 2, let work = Work(rawValue: arguments[1]) else {
      fail("usage: allocations WORK", status: 2)
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
