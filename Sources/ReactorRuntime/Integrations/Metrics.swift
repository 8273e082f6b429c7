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
    let users = MeterUsers()
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
          users.remove(Self.label(of: name, source), source.dimensions) { meter.destroy() }
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
      return users.add(label, source.dimensions) {
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

  /// The users of each meter, by its label and dimensions. A factory returns the same handler for equal ones, and destroying that takes it
  /// from all its users: so the last one destroys it.
  final class MeterUsers: Sendable {
    private struct Key: Hashable {
      let label: String
      let dimensions: [[String]]
    }

    private let counts = SystemMutex<[Key: Int]>([:])

    /// Makes a meter, and counts a user of it. Any thread.
    ///
    /// - Parameter make: Makes it. Called under the lock: a meter that is made while its last user destroys it would be destroyed with it.
    func add<Made: Sendable>(_ label: String, _ dimensions: [(String, String)], _ make: () -> Made) -> Made {
      counts.withLock { counts in
        counts[Self.key(label, dimensions), default: 0] += 1
        return make()
      }
    }

    /// Counts a user less. Any thread.
    ///
    /// - Parameter destroy: Destroys the meter. Called under the lock, if that was the last user.
    func remove(_ label: String, _ dimensions: [(String, String)], _ destroy: () -> Void) {
      counts.withLock { counts in
        let key = Self.key(label, dimensions)
        let left = counts[key, default: 1] - 1
        counts[key] = left == 0 ? nil : left
        if left == 0 { destroy() }
      }
    }

    private static func key(_ label: String, _ dimensions: [(String, String)]) -> Key {
      Key(label: label, dimensions: dimensions.map { [$0.0, $0.1] })
    }
  }
#endif
