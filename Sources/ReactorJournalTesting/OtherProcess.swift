import Foundation
import ReactorCore

/// This test program once more, for one call of ``assertReplays(_:entry:of:file:function:line:)``.
enum OtherProcess {
  /// What the other process has to do.
  struct Task: Codable {
    /// Which call it is meant for: its place, and how many the first process has made there. The line may be in a loop.
    let call: String
    let number: Int
    /// The journal to replay, and the file for the states.
    let history: String
    let answer: String
  }

  private static let variable = "REACTOR_REPLAY"

  /// What this process has to do; nil if it is the first one.
  static let task: Task? = ProcessInfo.processInfo.environment[variable].flatMap {
    try? JSONDecoder().decode(Task.self, from: Data($0.utf8))
  }

  private static let counts = SystemMutex<[String: Int]>([:])

  /// Counts a call.
  ///
  /// - Returns: How many this process has made there.
  static func number(of call: String) -> Int {
    counts.withLock { counts in
      counts[call, default: 0] += 1
      return counts[call]!
    }
  }

  /// Runs the calling function in another process, and returns what its call has written.
  static func run(_ call: String, _ number: Int, history: String, file: String, function: String) throws
    -> [UInt8]
  {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
      "replay-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let answer = directory.appendingPathComponent("states")
    let output = directory.appendingPathComponent("output")
    // A copy: the other process may write to the same file before its call.
    let copy = directory.appendingPathComponent("journal")
    // Beside a symbolic link there is no log.
    let history = URL(fileURLWithPath: history).resolvingSymlinksInPath().path
    for part in ["", "-wal"] where FileManager.default.fileExists(atPath: history + part) {
      try FileManager.default.copyItem(atPath: history + part, toPath: copy.path + part)
    }
    _ = FileManager.default.createFile(atPath: output.path, contents: nil)

    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["--testing-library", "swift-testing", "--filter", filter(file, function)]
    var environment = ProcessInfo.processInfo.environment
    let task = Task(call: call, number: number, history: copy.path, answer: answer.path)
    environment[variable] = String(decoding: try JSONEncoder().encode(task), as: UTF8.self)
    // It would give both processes the same seeds.
    environment["SWIFT_DETERMINISTIC_HASHING"] = nil
    process.environment = environment
    let handle = try FileHandle(forWritingTo: output)
    (process.standardOutput, process.standardError) = (handle, handle)
    try process.run()
    let deadline = Date() + 600
    while process.isRunning, Date() < deadline { usleep(5000) }
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
    guard let states = try? Data(contentsOf: answer) else {
      let text = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
      throw ReplayDifference.noAnswer(String(text.suffix(2000)))
    }
    return [UInt8](states)
  }

  /// A regular expression for the calling test: its module, its name and its file. A name in backquotes may be shown with them or
  /// without.
  private static func filter(_ file: String, _ function: String) -> String {
    let module = file.split(separator: "/").first.map(String.init) ?? ""
    let name = function.prefix { $0 != "(" }.filter { $0 != "`" }
    func escaped(_ text: String) -> String { NSRegularExpression.escapedPattern(for: text) }
    return "^\(escaped(module))\\.(.*/)?`?\(escaped(name))`?\\("
  }
}
