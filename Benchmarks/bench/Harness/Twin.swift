import BenchmarkSupport
import Foundation
import Synchronization

/// This benchmark built on the other core: a child process that measures repetitions on request, so that both cores
/// take turns in one table.
///
/// The two talk in lines of JSON over pipes: a `Request` for each repetition, a `Reply` for each request.
final class Twin: Sendable {
  struct Request: Codable {
    var caseName: String
    var variant: String
    var repetition: RepetitionRequest
  }

  enum Reply: Codable {
    case measured(Measurement)
    case failed(String)
  }

  private struct Connection {
    let requests: FileHandle
    let replies: LineReader
  }

  private let process: Process
  private let connection: Mutex<Connection>
  /// The pipes, whose descriptors close when they go away.
  private let pipes: (Pipe, Pipe)

  /// The executable that `Scripts/bench` builds on the other core, if it is there and not older than this one: an
  /// older one may have been built from other sources.
  static func builtBesideThis() -> String? {
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
      StandardError.write("bench: the executable on the other core is older than this one and is left out.\n")
      return nil
    }
    return path
  }

  /// Starts the executable at `path`.
  init(path: String) throws {
    let (requests, replies) = (Pipe(), Pipe())
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = ["--serve"]
    process.standardInput = requests
    process.standardOutput = replies
    try process.run()
    self.process = process
    connection = Mutex(
      Connection(
        requests: requests.fileHandleForWriting,
        replies: LineReader(replies.fileHandleForReading.fileDescriptor)))
    pipes = (requests, replies)
  }

  deinit { process.terminate() }

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

  private func measure(_ request: Request) throws -> Measurement {
    try connection.withLock { connection in
      try connection.requests.write(contentsOf: JSONEncoder().encode(request) + [UInt8(ascii: "\n")])
      // A repetition of the twin ends by itself, or says that it stalled; this is for a twin that crashed or hangs.
      guard let line = connection.replies.next(timeoutSeconds: 120) else {
        throw Stalled("the executable that is built on the other core does not reply")
      }
      switch try JSONDecoder().decode(Reply.self, from: line) {
      case .measured(let measurement): return measurement
      case .failed(let reason): throw SubjectFailure(reason)
      }
    }
  }

  /// The child's side: replies to requests until its standard input ends.
  static func serve(_ cases: [Case]) -> Int32 {
    let instruments = Instruments.ofThisMachine()
    while let line = readLine() {
      let reply: Reply
      do {
        let request = try JSONDecoder().decode(Request.self, from: Data(line.utf8))
        guard let parent = cases.first(where: { $0.name == request.caseName }),
          let variant = parent.variants.first(where: { $0.name == request.variant })
        else { throw SubjectFailure("there is no \(request.variant) in \(request.caseName)") }
        reply = .measured(try variant.measure(parent.shape, request.repetition, instruments))
      } catch {
        reply = .failed("\(error)")
      }
      guard let data = try? JSONEncoder().encode(reply) else { return 1 }
      FileHandle.standardOutput.write(data + [UInt8(ascii: "\n")])
    }
    return 0
  }
}

/// Reads lines from a descriptor, and gives up if none comes in time.
private final class LineReader {
  private let descriptor: Int32
  private var buffer = Data()

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  func next(timeoutSeconds: Int32) -> Data? {
    while true {
      if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
        defer { buffer = Data(buffer[(end + 1)...]) }
        return Data(buffer[..<end])
      }
      var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&watched, 1, timeoutSeconds * 1000) == 1 else { return nil }
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = read(descriptor, &bytes, bytes.count)
      guard count > 0 else { return nil }
      buffer.append(contentsOf: bytes[..<count])
    }
  }
}
