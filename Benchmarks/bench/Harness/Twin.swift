import BenchmarkSupport
import CBenchmarkLimits
import Foundation
import Synchronization

/// This benchmark built on the other core: a child process that measures one repetition for each request, so that both
/// cores take turns in one table.
///
/// The two talk in lines of JSON over pipes: the parent writes a ``Request``, and the child writes a ``Reply`` for it.
/// The child is started by the first request. It ends when its standard input ends, and is killed if it stalls.
final class Twin: Sendable {
  struct Request: Codable {
    var caseName: String
    var variant: String
    var repetition: RepetitionRequest
  }

  enum Reply: Codable {
    case measured(Measurement)
    /// The result was wrong, or could not be had.
    case failed(String)
    /// The repetition hangs. Its threads still run, so the child is of no more use.
    case stalled(String)
  }

  private let path: String
  private let child = Mutex<Child?>(nil)

  private init(path: String) {
    self.path = path
    // A write to a child that has crashed then fails, instead of ending this process.
    signal(SIGPIPE, SIG_IGN)
  }

  /// The executable that `Scripts/bench` builds on the other core, if it is there and not older than this one. An
  /// older one may have been built from other sources.
  static func builtBesideThis() -> Twin? {
    // This one is .build/<triple>/release/bench, and the other .build/twin/<triple>/release/bench.
    let this = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let configuration = this.deletingLastPathComponent()
    let triple = configuration.deletingLastPathComponent()
    let path = triple.deletingLastPathComponent().appending(
      components: "twin", triple.lastPathComponent, configuration.lastPathComponent, this.lastPathComponent
    ).path
    func modified(_ path: String) -> Date? {
      (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date
    }
    guard let twin = modified(path), let mine = modified(this.path) else { return nil }
    if twin < mine {
      StandardError.write(
        "bench: \(path) is older than this executable, so its rows are left out; Scripts/bench builds both.\n"
      )
      return nil
    }
    return Twin(path: path)
  }

  /// The catalogue with a row of the twin behind each variant that has one.
  func adding(to cases: [Case]) -> [Case] {
    cases.map { one in
      one.replacingVariants { variant in
        guard let name = variant.twin else { return [variant] }
        let caseName = one.name
        let remote = Variant(name: name, hasOrder: variant.hasOrder) { [self] _, repetition, _ in
          try measure(Request(caseName: caseName, variant: name, repetition: repetition))
        }
        return [variant, remote]
      }
    }
  }

  /// Ends the child, if there is one, and waits until it is gone.
  func end() {
    child.withLock { child in
      child?.end()
      child = nil
    }
  }

  /// After a failure of the child itself, the next request starts another one.
  private func measure(_ request: Request) throws -> Measurement {
    try child.withLock { child in
      let running = try child ?? Child(path: path)
      child = running
      do {
        switch try running.reply(to: request) {
        case .measured(let measurement): return measurement
        case .failed(let reason): throw SubjectFailure(reason)
        case .stalled(let reason): throw Child.Unusable(reason)
        }
      } catch let error as SubjectFailure {
        throw error
      } catch {
        child = nil
        let status = running.kill()
        throw SubjectFailure("the executable on the other core: \(error)\(status)")
      }
    }
  }

  /// The child's side: replies to requests until standard input ends. Returns the exit status.
  static func serve(_ cases: [Case]) -> Int32 {
    bl_end_with_parent()
    Interruption.leaveToParent()
    // What anything else prints must not be taken for a reply: it goes to standard error.
    let replies = FileHandle(fileDescriptor: dup(STDOUT_FILENO), closeOnDealloc: false)
    dup2(STDERR_FILENO, STDOUT_FILENO)
    let instruments = Instruments.ofThisMachine()
    guard let thread = try? MeasuringThread() else {
      StandardError.write("bench --serve: the system gave no thread\n")
      return 1
    }
    while let line = readLine() {
      do {
        let reply = reply(to: line, cases, instruments, on: thread)
        // A figure that is no number cannot be encoded.
        let data = try (try? JSONEncoder().encode(reply)) ?? JSONEncoder().encode(Reply.failed("no number"))
        try replies.write(contentsOf: data + [UInt8(ascii: "\n")])
      } catch {
        StandardError.write("bench --serve: a reply could not be written: \(error)\n")
        return 1
      }
    }
    return 0
  }

  private static func reply(
    to line: String, _ cases: [Case], _ instruments: Instruments, on thread: MeasuringThread
  ) -> Reply {
    do {
      let request = try JSONDecoder().decode(Request.self, from: Data(line.utf8))
      guard let parent = cases.first(where: { $0.name == request.caseName }),
        let variant = parent.variants.first(where: { $0.name == request.variant })
      else { throw SubjectFailure("there is no \(request.variant) in \(request.caseName)") }
      let (measure, shape, repetition) = (variant.measure, parent.shape, request.repetition)
      return .measured(
        try thread.run(within: repetition.mostSeconds) { try measure(shape, repetition, instruments) })
    } catch let stall as Stalled {
      return .stalled(stall.description)
    } catch {
      return .failed("\(error)")
    }
  }
}

/// A running child and the pipes to it.
private final class Child {
  /// The child does not do what it must, and has to be replaced.
  struct Unusable: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
  }

  private let process = Process()
  private let (requests, replies) = (Pipe(), Pipe())
  private var received = Data()

  init(path: String) throws {
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = ["--serve"]
    process.standardInput = requests
    process.standardOutput = replies
    do {
      try process.run()
    } catch {
      throw SubjectFailure("the executable on the other core cannot be started: \(error)")
    }
  }

  /// Throws `Unusable`, or an error of the system or the decoder, if the child crashed, hangs or replies with something
  /// else.
  func reply(to request: Twin.Request) throws -> Twin.Reply {
    try requests.fileHandleForWriting.write(
      contentsOf: JSONEncoder().encode(request) + [UInt8(ascii: "\n")])
    // The child itself gives up a repetition that hangs, and says so.
    return try JSONDecoder().decode(
      Twin.Reply.self,
      from: nextLine(until: bl_now_ns() + UInt64(request.repetition.mostSecondsOfChild * 1e9)))
  }

  /// Lets the child end by itself, and kills it if it does not.
  func end() {
    try? requests.fileHandleForWriting.close()
    awaitExit(seconds: 5)
    _ = kill()
  }

  /// Returns what is known of the child's end, to be appended to a message.
  func kill() -> String {
    // A child that crashes closes its pipes first.
    awaitExit(seconds: 1)
    guard process.isRunning else {
      return process.terminationReason == .uncaughtSignal
        ? "; ended by signal \(process.terminationStatus)" : "; exited with \(process.terminationStatus)"
    }
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    return "; killed"
  }

  private func awaitExit(seconds: UInt64) {
    let deadline = bl_now_ns() + seconds * 1_000_000_000
    while process.isRunning, bl_now_ns() < deadline { usleep(1000) }
  }

  private func nextLine(until deadline: UInt64) throws -> Data {
    let descriptor = replies.fileHandleForReading.fileDescriptor
    while true {
      if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
        defer { received = Data(received[(end + 1)...]) }
        return Data(received[..<end])
      }
      let now = bl_now_ns()
      guard now < deadline else { throw Unusable("it did not reply in time") }
      var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      // Nothing to read yet, or interrupted by a signal.
      if poll(&watched, 1, Int32((deadline - now) / 1_000_000 + 1)) != 1 { continue }
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = read(descriptor, &bytes, bytes.count)
      guard count > 0 else { throw Unusable("it ended without a reply") }
      received.append(contentsOf: bytes[..<count])
    }
  }
}
