import BenchmarkSupport
import Foundation

/// The file for the JSON report, opened before anything is measured: a minute is not spent on a path that
/// turns out to be wrong.
struct OutputFile {
  private let path: String
  private let descriptor: Int32

  init(_ path: String) throws(UsageError) {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw UsageError("--json cannot write to '\(path)': \(String(cString: strerror(errno))).")
    }
  }

  /// Replaces what the file holds.
  func write(_ data: Data) throws {
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    // A pipe or a terminal has no length to cut.
    if lseek(descriptor, 0, SEEK_CUR) >= 0 { try file.truncate(atOffset: 0) }
    try file.write(contentsOf: data)
  }
}
