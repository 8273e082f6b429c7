import BenchmarkSupport
import CBenchmarkLimits
import Foundation
import Glibc

/// A file for the results, opened before anything is measured.
struct OutputFile {
  private let path: String
  private let descriptor: Int32

  /// - Parameter option: what named the file on the command line.
  init(_ path: String, _ option: String) throws(UsageError) {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw UsageError("\(option) cannot write to '\(path)': \(String(cString: strerror(errno))).")
    }
  }

  /// Empties the file, so that nobody takes the results of an earlier run for those of one that was killed.
  func clear() { if lseek(descriptor, 0, SEEK_CUR) >= 0 { ftruncate(descriptor, 0) } }

  /// Replaces the content of the file.
  func write(_ data: Data) throws {
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    // A pipe or a terminal has no length to cut.
    if lseek(descriptor, 0, SEEK_CUR) >= 0 { try file.truncate(atOffset: 0) }
    try file.write(contentsOf: data)
  }
}

/// The documents of the repository that hold results.
struct ResultsFolder {
  private let documents: [(path: String, text: MarkedText)]

  /// Reads the documents. Throws if one is missing, or has no place for the tables of one of the cases.
  init(_ folder: String, _ outlines: [CaseOutline]) throws(UsageError) {
    var documents: [(path: String, text: MarkedText)] = []
    for name in ["README.md", "Benchmarks/RESULTS.md"] {
      let path = "\(folder)/\(name)"
      guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
        throw UsageError("--write-results cannot read '\(path)'.")
      }
      documents.append((path, try MarkedText(text, path: path)))
    }
    let missing = ResultsPages.casesWithoutTable(outlines, in: documents.flatMap(\.text.names))
    guard missing.isEmpty else {
      throw UsageError("Benchmarks/RESULTS.md has no place for \(missing.joined(separator: ", ")).")
    }
    self.documents = documents
  }

  func write(_ pages: ResultsPages) throws {
    // Both are made before one is written.
    let filled = try documents.map { try $0.text.filled(pages.content) }
    for (document, text) in zip(documents, filled) {
      try text.write(toFile: document.path, atomically: true, encoding: .utf8)
    }
  }
}

/// Shows a ``LiveView`` on standard error: one line that changes on a terminal, and otherwise a line for each group in the first round,
/// and for each further round.
final class Progress {
  private let isTerminal = isatty(STDERR_FILENO) == 1
  private let start = bl_now_ns()
  private var view: LiveView
  private var roundOfLog = 0

  init(_ groups: [Group], _ options: Options) {
    view = LiveView(plannedSeconds: groups.map { $0.plannedSeconds(options) }, rounds: options.repetitions)
  }

  private var elapsed: Double { Double(bl_now_ns() - start) / 1e9 }

  func enter(_ index: Int, _ title: String, round: Int) {
    view.enter(index, title, round: round)
    if !isTerminal, round == 1 || round != roundOfLog {
      StandardError.write(view.logLine(elapsed: elapsed) + "\n")
    }
    roundOfLog = round
  }

  func show(_ placement: CorePlacement) {
    view.placement = placement
  }

  func show(_ variant: String, _ step: String) {
    guard isTerminal else { return }
    StandardError.write("\r\u{1B}[K" + view.line(variant, step, elapsed: elapsed, width: Self.width))
  }

  func clear() {
    if isTerminal { StandardError.write("\r\u{1B}[K") }
  }

  /// The columns of the terminal now; it may have been resized.
  private static var width: Int {
    var size = winsize()
    guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }
}

/// Unbuffered, and apart from the report.
enum StandardError {
  static func write(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      _ = Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count)
    }
  }
}
