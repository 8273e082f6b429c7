#if ServiceLifecycle
  public import ServiceLifecycle
  import ReactorCore

  /// Loops as a service of swift-service-lifecycle: with the package trait `ServiceLifecycle`.
  ///
  /// Reactors run whether or not this does. It waits until the service group is shut down, or its task is
  /// cancelled, and then ends the loops: they refuse what is sent, and run what was accepted.
  ///
  /// ```swift
  /// let group = ServiceGroup(
  ///   services: [ReactorService([loop], within: .seconds(10)), server], …)
  /// ```
  ///
  /// A service group ends its services in the reverse order, so put this before what sends to the reactors.
  public struct ReactorService: Service {
    private let time: Duration
    private let close: @Sendable (ContinuousClock.Instant) throws -> Void

    /// - Parameters:
    ///   - time: How long the end may take.
    ///   - close: Ends something, not later than at that time, or throws what has not ended. Called on a thread
    ///     of its own, where it may block.
    public init(
      within time: Duration, _ close: @escaping @Sendable (_ deadline: ContinuousClock.Instant) throws -> Void
    ) {
      self.time = time
      self.close = close
    }

    /// - Parameters:
    ///   - parts: What is closed: loops, groups, reactors (``Reactor/ending(by:)``).
    ///   - time: How long the end may take.
    public init(_ parts: [any Closeable], within time: Duration) {
      self.init(within: time) { deadline in try Shutdown.close(parts, before: deadline) }
    }

    public func run() async throws {
      // Cancelled: what was accepted is still run.
      try? await gracefulShutdown()
      let deadline = ContinuousClock.now + time
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        _ = DedicatedThread(named: "reactor-closing") { [close] in
          continuation.resume(with: Result { try close(deadline) })
        }
      }
    }
  }
#endif
