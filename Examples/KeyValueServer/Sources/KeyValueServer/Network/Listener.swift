import Glibc
import ReactorRuntime

/// A listening socket on a loop. It belongs to the thread of the loop.
final class Listener {
  private let descriptor: Int32
  private let loop: Loop
  private let admit: (Int32) -> Void
  private var watch: Watch?
  private let failures = OccasionalLog()

  private init(_ descriptor: Int32, on loop: Loop, _ admit: @escaping (Int32) -> Void) {
    self.descriptor = descriptor
    self.loop = loop
    self.admit = admit
  }

  /// Listens on a port, or one that the system chooses if it is 0, and calls `admit` on the loop with each client
  /// that connects. Any thread.
  static func open(
    _ host: String, port: UInt16, on loop: Loop, _ admit: @escaping @Sendable (Int32) -> Void
  ) throws -> (listener: LoopBound<Listener>, port: UInt16) {
    let descriptor = try Socket.listen(on: host, port: port)
    let listener = LoopBound(Listener(descriptor, on: loop, admit), to: loop)
    let watch = try loop.watch(descriptor, for: []) { _, _ in listener.value.accept(listener) }
    try loop.execute { listener.value.start(watch, listener) }
    return (listener, Socket.port(of: descriptor))
  }

  private func start(_ watch: Watch, _ bound: LoopBound<Listener>) {
    self.watch = watch
    resume(bound)
  }

  /// Accepts clients from now on; or, if the system has no memory for that, a moment later.
  private func resume(_ bound: LoopBound<Listener>) {
    do { try watch?.change(to: .readable) } catch {
      failures.warning("clients have to wait: \(error)")
      // Refused by a loop that ends.
      _ = try? resumeLater(bound)
    }
  }

  private func resumeLater(_ bound: LoopBound<Listener>) throws {
    try loop.schedule(after: .milliseconds(100)) { bound.value.resume(bound) }
  }

  private func accept(_ bound: LoopBound<Listener>) {
    do {
      // A few at a time: those that are connected already have their turn, too.
      for _ in 0..<64 {
        guard let client = try Socket.accept(from: descriptor) else { return }
        admit(client)
      }
    } catch {
      pause(because: error, bound)
    }
  }

  /// Leaves the clients in the queue of the system for a moment. Without this the loop would be called for them again at once,
  /// and again.
  private func pause(because failure: Socket.Failure, _ bound: LoopBound<Listener>) {
    failures.warning("clients have to wait: \(failure)")
    do {
      try resumeLater(bound)
      try watch?.change(to: [])
    } catch {
      // The loop ends, or has no room for the timer: then the next call comes at once.
    }
  }

  /// Accepts nobody from now on. Clients that wait in the queue of the system are refused.
  func close() {
    guard let watch else { return }
    watch.dispose()
    self.watch = nil
    Glibc.close(descriptor)
  }
}
