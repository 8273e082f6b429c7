#if Metrics
  public import Metrics
  import ReactorCore

  /// The counters of reactors and loops as meters of swift-metrics: with the package trait `Metrics`.
  ///
  /// ```swift
  /// let meters = CounterMeters()
  /// meters.add("orders_loop") { loop.counters }
  /// let recording = meters.record(every: .seconds(10))
  /// ```
  ///
  /// Each number of what is added is a meter, named `orders_loop_longest_turn` after the label and the number.
  /// A duration is in seconds. What the runtime counts from its start on, a meter shows as it is.
  public final class CounterMeters: Sendable {
    private struct Source: Sendable {
      let label: String
      let dimensions: [(String, String)]
      let read: @Sendable () -> (any Sendable)?
      /// By the name of the number; made when it is seen first.
      var meters: [String: Meter] = [:]
    }

    private let sources = SystemMutex<[Source]>([])
    private let factory: any MetricsFactory

    /// - Parameter factory: Makes the meters.
    public init(factory: any MetricsFactory = MetricsSystem.factory) { self.factory = factory }

    /// Adds something that counts. Any thread.
    ///
    /// - Parameters:
    ///   - label: What the labels of its meters begin with.
    ///   - dimensions: Of each of its meters.
    ///   - read: Answers its counters, a value with integers and durations in it; nil once it is gone, and then
    ///     it is forgotten and its meters are destroyed. Called on the thread that records.
    public func add(
      _ label: String, dimensions: [(String, String)] = [],
      _ read: @escaping @Sendable () -> (any Sendable)?
    ) {
      let source = Source(label: label, dimensions: dimensions, read: read)
      sources.withLock { $0.append(source) }
    }

    /// Sets all meters now. Any thread, one at a time.
    public func record() {
      // Not under the lock: it calls foreign code.
      let present = sources.withLock { sources in
        defer { sources = [] }
        return sources
      }
      let kept = present.compactMap { record($0) }
      sources.withLock { $0 = kept + $0 }
    }

    /// Sets all meters again and again, until that is disposed. Any thread.
    public func record(
      every interval: Duration,
      on scheduler: any SchedulerType = Schedulers.timing
    ) -> any Disposable {
      scheduler.schedulePeriodic(after: .zero, every: interval) { [self] in record() }
    }

    private func record(_ source: Source) -> Source? {
      guard let counters = source.read() else {
        for meter in source.meters.values { meter.destroy() }
        return nil
      }
      var source = source
      for case (let name?, let value) in Mirror(reflecting: counters).children {
        guard let number = Self.number(value) else { continue }
        let meter = source.meters[name] ?? makeMeter(name, of: source)
        source.meters[name] = meter
        meter.set(number)
      }
      return source
    }

    private func makeMeter(_ name: String, of source: Source) -> Meter {
      Meter(
        label: "\(source.label)_\(Self.inSnakeCase(name))", dimensions: source.dimensions, factory: factory)
    }

    private static func number(_ value: Any) -> Double? {
      switch value {
      case let duration as Duration: duration / .seconds(1)
      case let integer as any BinaryInteger: Double(integer)
      default: nil
      }
    }

    private static func inSnakeCase(_ name: String) -> String {
      name.reduce(into: "") { label, letter in
        label += letter.isUppercase ? "_\(letter.lowercased())" : String(letter)
      }
    }
  }
#endif
