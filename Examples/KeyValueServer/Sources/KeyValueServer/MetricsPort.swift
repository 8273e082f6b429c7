import Glibc
import ReactorRuntime

/// A port that returns the metrics to whatever connects, as HTTP. It belongs to the thread of the first loop.
final class MetricsPort {
  /// How many clients there may be at a time: each has a descriptor, and those are for the clients of the server.
  private static let mostClients = 16
  /// How long a client may take to ask, and to take the reply.
  private static let patience = Duration.seconds(5)

  private let server: Server
  private let loop: Loop
  private var clientCount = 0
  private let refusals = OccasionalLog()

  private init(of server: Server, on loop: Loop) { (self.server, self.loop) = (server, loop) }

  /// - Returns: The port.
  static func open(_ port: UInt16, of server: Server) throws -> UInt16 {
    let loop = server.workers[0].loop
    let metrics = LoopBound(MetricsPort(of: server, on: loop), to: loop)
    return try Listener.open(server.options.host, port: port, on: loop) { metrics.value.admit($0, metrics) }
      .port
  }

  private func admit(_ descriptor: Int32, _ bound: LoopBound<MetricsPort>) {
    if clientCount == Self.mostClients {
      Glibc.close(descriptor)
      return refusals.warning("refused a client of the metrics: \(clientCount) are connected")
    }
    clientCount += 1
    let client = LoopBound(MetricsClient(descriptor) { bound.value.clientCount -= 1 }, to: loop)
    do {
      let server = server
      client.value.watch = try loop.watch(descriptor, for: .readable) { _, _ in
        client.value.isReady { server.metrics() }
      }
      client.value.timer = try loop.schedule(after: Self.patience) { client.value.close() }
    } catch {
      client.value.close()
    }
  }
}

/// A client of the metrics. It belongs to the thread of the loop.
private final class MetricsClient {
  /// The most that a request may have, in bytes.
  private static let longestRequest = 16 << 10

  let descriptor: Int32
  var watch: Watch?
  var timer: (any Disposable)?
  /// How many bytes of the request have come.
  private var requestSize = 0
  /// Whether a line has just ended.
  private var isBehindLine = false
  /// What the socket has not taken of the reply.
  private var reply = Output()
  private var isClosed = false
  private let closed: () -> Void

  init(_ descriptor: Int32, _ closed: @escaping () -> Void) {
    self.descriptor = descriptor
    self.closed = closed
  }

  func isReady(_ body: () -> String) {
    if reply.isEmpty { receive(body) } else { send() }
  }

  /// Reads, and replies at the end of the request. What that asks for does not matter, but a client that gets the reply before it
  /// has asked is confused, and what was not read when the descriptor is closed makes the system discard the reply.
  private func receive(_ body: () -> String) {
    var (buffer, received) = ([UInt8](repeating: 0, count: 4096), [UInt8]())
    switch Socket.receive(from: descriptor, by: &buffer, into: &received) {
    case .nothing: break
    case .end: close()
    case .bytes:
      requestSize += received.count
      if endsHead(received) { return begin(body()) }
      if requestSize > Self.longestRequest { close() }
    }
  }

  /// Whether the end of the head is in what has come: an empty line. The lines of some clients end without a carriage return.
  private func endsHead(_ received: [UInt8]) -> Bool {
    for byte in received where byte != 13 {
      if byte == 10, isBehindLine { return true }
      isBehindLine = byte == 10
    }
    return false
  }

  private func begin(_ body: String) {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nConnection: close\r\n"
    reply.bytes = Array("\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
    send()
  }

  private func send() {
    if !reply.send(to: descriptor) || reply.isEmpty { return close() }
    do { try watch?.change(to: .writable) } catch { close() }
  }

  func close() {
    if isClosed { return }
    isClosed = true
    watch?.dispose()
    timer?.dispose()
    (watch, timer) = (nil, nil)
    Glibc.close(descriptor)
    closed()
  }
}
