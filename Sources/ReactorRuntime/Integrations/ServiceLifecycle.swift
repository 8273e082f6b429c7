#if ServiceLifecycle
  public import ServiceLifecycle

  /// A service of swift-service-lifecycle that ends loops and reactors. Requires the package trait
  /// `ServiceLifecycle`.
  ///
  /// Reactors run independently of this service. It waits until the service group shuts down, or until its task is
  /// cancelled, and then ends the given parts: they refuse further actions, and process those they have accepted.
  ///
  /// ```swift
  /// let group = ServiceGroup(
  ///   services: [ReactorService([loop], within: .seconds(10)), server], …)
  /// ```
  ///
  /// A service group ends its services in reverse order, so list this service before those that send to the
  /// reactors.
  public struct ReactorService: Service {
    private let time: Duration
    private let close: @Sendable (ContinuousClock.Instant) async throws -> Void

    /// - Parameters:
    ///   - time: The longest time that the end may take.
    ///   - close: Ends the parts before the deadline, or throws an error that names those that have not ended.
    ///     Called on its own thread, where it may block; or on one of Dispatch's, if the system gives no thread.
    public init(
      within time: Duration, _ close: @escaping @Sendable (_ deadline: ContinuousClock.Instant) throws -> Void
    ) {
      self.time = time
      self.close = { deadline in
        try await Shutdown.onOwnThread { Result { try close(deadline) } }.get()
      }
    }

    /// - Parameters:
    ///   - parts: The loops, groups and reactors (``Reactor/closer(by:)``) to end.
    ///   - time: The longest time that the end may take.
    public init(_ parts: [any Closeable], within time: Duration) {
      self.time = time
      close = { deadline in try await Shutdown.closeSuspending(parts, before: deadline) }
    }

    public func run() async throws {
      // A cancelled task ends the parts as well, and they still process what they have accepted.
      try? await gracefulShutdown()
      // Limited, so that the sum does not overflow.
      try await close(.now + min(time, .seconds(Int64.max)))
    }
  }
#endif
