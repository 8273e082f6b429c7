#if Metrics
  public import Metrics
  import ReactorCore

  /// The counters of reactors and loops as meters of swift-metrics. Requires the package trait `Metrics`.
  ///
  /// ```swift
  /// let meters = CounterMeters()
  /// meters.add("orders_loop") { loop.counters }
  /// let recording = meters.record(every: .seconds(10))
  /// ```
  ///
  /// Each number that the counters store becomes a meter (not `sent`, which is the sum of three), whose name consists of the label and the number's name:
  /// `orders_loop_longest_turn`. Durations are in seconds. Numbers that the runtime counts from its start are
  /// passed on as they are, not as differences: the longest turn is the longest one since the start, so an alert needs
  /// ``addTimes(_:dimensions:of:every:)``.
  ///
  /// Sources with the same label and dimensions share their meters: of counters, each recording shows the last source. The meters are
  /// destroyed with the last of these sources, if one object has them all.
  public final class CounterMeters: Sendable {
    private struct Source: Sendable {
      let label: String
      let dimensions: [(String, String)]
      let read: @Sendable () -> (any Sendable)?
      /// The meters by the names of their numbers. Each is made when its number is first read.
      var meters: [String: Meter] = [:]
    }

    private let sources = SystemMutex<[Source]>([])
    let shared = SharedMeters()
    let factory: any MetricsFactory

    /// - Parameter factory: The factory that makes the meters.
    public init(factory: any MetricsFactory = MetricsSystem.factory) { self.factory = factory }

    /// Adds counters. Any thread.
    ///
    /// - Parameters:
    ///   - label: The beginning of the meters' labels.
    ///   - dimensions: The dimensions of the meters.
    ///   - read: Returns the counters: a structure whose properties are integers and durations. Once it returns nil
    ///     the counters are removed, and their meters destroyed. Called on the thread that records.
    public func add(
      _ label: String, dimensions: [(String, String)] = [],
      _ read: @escaping @Sendable () -> (any Sendable)?
    ) {
      let source = Source(label: label, dimensions: dimensions, read: read)
      sources.withLock { $0.append(source) }
    }

    /// Sets all meters to the current numbers. Any thread, but one at a time.
    public func record() {
      // Not under the lock, because `read` and the meters are foreign code, which may call `add`.
      let present = sources.withLock { sources in
        defer { sources = [] }
        return sources
      }
      let kept = present.compactMap { record($0) }
      sources.withLock { $0 = kept + $0 }
    }

    /// Sets all meters periodically, until the returned `Disposable` is disposed. Any thread.
    public func record(
      every interval: Duration,
      on scheduler: any SchedulerType = Schedulers.timing
    ) -> any Disposable {
      scheduler.schedulePeriodic(after: .zero, every: interval) { [self] in record() }
    }

    private func record(_ source: Source) -> Source? {
      guard let counters = source.read() else {
        for (name, meter) in source.meters {
          shared.drop(meter, Self.label(of: name, source), source.dimensions) { $0.destroy() }
        }
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
      let label = Self.label(of: name, source)
      return shared.use(label, source.dimensions) {
        Meter(label: label, dimensions: source.dimensions, factory: factory)
      }
    }

    private static func label(of name: String, _ source: Source) -> String {
      "\(source.label)_\(inSnakeCase(name))"
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

  /// Meters by their types, labels and dimensions. A factory returns the same handler for equal ones, and destroying that takes it from all
  /// its users: so each is made once, and destroyed by its last user.
  final class SharedMeters: Sendable {
    private struct Key: Hashable {
      let type: ObjectIdentifier
      let label: String
      let dimensions: [[String]]

      init(_ type: Any.Type, _ label: String, _ dimensions: [(String, String)]) {
        self.type = ObjectIdentifier(type)
        self.label = label
        self.dimensions = dimensions.map { [$0.0, $0.1] }
      }
    }

    private let meters = SystemMutex<[Key: (meter: any Sendable, users: Int)]>([:])

    /// Returns a meter, and counts a user of it. Any thread.
    ///
    /// - Parameter make: Makes it. Called under the lock: one that is made while the last user of the one before destroys that would be
    ///   destroyed with it.
    func use<Made: Sendable>(_ label: String, _ dimensions: [(String, String)], _ make: () -> Made) -> Made {
      meters.withLock { meters in
        let key = Key(Made.self, label, dimensions)
        let (meter, users) = (meters[key]?.meter as? Made ?? make(), meters[key]?.users ?? 0)
        meters[key] = (meter, users + 1)
        return meter
      }
    }

    /// Counts a user less. Any thread.
    ///
    /// - Parameter destroy: Destroys the meter. Called under the lock, if that was the last user.
    func drop<Made: Sendable>(
      _ meter: Made, _ label: String, _ dimensions: [(String, String)], _ destroy: (Made) -> Void
    ) {
      meters.withLock { meters in
        let key = Key(Made.self, label, dimensions)
        let left = (meters[key]?.users ?? 1) - 1
        meters[key]?.users = left
        if left == 0 {
          meters[key] = nil
          destroy(meter)
        }
      }
    }
  }
#endif
