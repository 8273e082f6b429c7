import Glibc

/// Observing a stream in passing, without changing it.
extension ObservableType {
  /// Calls closures as the events of this stream pass, on the thread that delivers them.
  ///
  /// An error that one of them throws replaces the event, and ends the stream. After a stop event nothing is
  /// left that could fail: what `afterError` or `afterCompleted` throws is passed to
  /// ``Hooks/defaultErrorHandler``.
  ///
  /// - Parameters:
  ///   - onNext: Called with each element before it is passed on.
  ///   - afterNext: Called with each element after it was passed on.
  ///   - onError: Called before a failure is passed on.
  ///   - afterError: Called after a failure was passed on.
  ///   - onCompleted: Called before the completion is passed on.
  ///   - afterCompleted: Called after the completion was passed on.
  ///   - onSubscribe: Called at each subscription, before this stream is subscribed to.
  ///   - onSubscribed: Called at each subscription, after this stream was subscribed to.
  ///   - onDispose: Called once for each subscription, when it is over for any reason. After a stop event
  ///     that may be as soon as the event was passed on, before `afterError` or `afterCompleted`.
  @inlinable
  public func `do`(
    onNext: (@Sendable (Element) throws -> Void)? = nil,
    afterNext: (@Sendable (Element) throws -> Void)? = nil,
    onError: (@Sendable (any Error) throws -> Void)? = nil,
    afterError: (@Sendable (any Error) throws -> Void)? = nil,
    onCompleted: (@Sendable () throws -> Void)? = nil, afterCompleted: (@Sendable () throws -> Void)? = nil,
    onSubscribe: (@Sendable () -> Void)? = nil, onSubscribed: (@Sendable () -> Void)? = nil,
    onDispose: (@Sendable () -> Void)? = nil
  ) -> Observable<Element> {
    let source = asObservable()
    return Observable { observer in
      onSubscribe?()
      let sink = Sink(observer)
      let subscription = source.run(
        AnyObserver { event in
          if sink.isOver { return }
          do {
            switch event {
            case .next(let element):
              try onNext?(element)
              sink.next(element)
              try afterNext?(element)
              return
            case .error(let error): try onError?(error)
            case .completed: try onCompleted?()
            }
          } catch { return sink.fail(error) }
          sink.pass(stop: event)
          do {
            if let error = event.error { try afterError?(error) } else { try afterCompleted?() }
          } catch { Hooks.defaultErrorHandler(error) }
          sink.dispose()
        })
      onSubscribed?()
      if let onDispose {
        sink.hold(Disposables.create(subscription, Disposables.create(with: onDispose)))
      } else {
        sink.hold(subscription)
      }
      return sink
    }
  }

  /// Prints each subscription, event and end of a subscription to standard output, with the time.
  ///
  /// - Parameters:
  ///   - identifier: Printed in each line. Without it, the place in the source code is printed.
  ///   - trimOutput: Whether events are cut to about 40 characters.
  ///   - file: The file that is printed without an identifier; by default that of the call.
  ///   - line: The line that is printed without an identifier; by default that of the call.
  ///   - function: The function that is printed without an identifier; by default that of the call.
  public func debug(
    _ identifier: String? = nil, trimOutput: Bool = false, file: String = #file, line: UInt = #line,
    function: String = #function
  ) -> Observable<Element> {
    let place = "\(file.split(separator: "/").last ?? ""):\(line) (\(function))"
    return debug(identifier ?? place, trimOutput: trimOutput) { print("\(WallClock.now()): \($0)") }
  }

  /// As the public function, with lines that have no time, and with a function of the caller's to print them.
  func debug(
    _ identifier: String, trimOutput: Bool, print: @escaping @Sendable (String) -> Void
  ) -> Observable<Element> {
    let note = { @Sendable (event: Event<Element>) in
      let text = "\(event)"
      let isTrimmed = trimOutput && text.count > 40
      print("\(identifier) -> Event \(isTrimmed ? "\(text.prefix(20))...\(text.suffix(20))" : text)")
    }
    return `do`(
      onNext: { note(.next($0)) }, onError: { note(.error($0)) }, onCompleted: { note(.completed) },
      onSubscribe: { print("\(identifier) -> subscribed") },
      onDispose: { print("\(identifier) -> isDisposed") })
  }
}

/// The local time of day, for people to read.
enum WallClock {
  /// Returns the time as `2026-05-31 23:59:59.123`.
  static func now() -> String {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    var parts = tm()
    localtime_r(&time.tv_sec, &parts)
    let date = [padded(parts.tm_year + 1900, 4), padded(parts.tm_mon + 1, 2), padded(parts.tm_mday, 2)]
    let clock = [padded(parts.tm_hour, 2), padded(parts.tm_min, 2), padded(parts.tm_sec, 2)]
    let milliseconds = padded(Int32(time.tv_nsec / 1_000_000), 3)
    return "\(date.joined(separator: "-")) \(clock.joined(separator: ":")).\(milliseconds)"
  }

  private static func padded(_ number: Int32, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
