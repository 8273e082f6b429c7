/// Looking at a stream without changing it.
extension ObservableType {
  /// This stream, with closures that are called as its events come by.
  ///
  /// An error that one of them throws takes the place of the event, and ends the stream. After a stop event
  /// there is nothing left to fail: ``Hooks/defaultErrorHandler`` gets what `afterError` or `afterCompleted`
  /// throws.
  ///
  /// - Parameters:
  ///   - onNext: Called with each element before it is passed on.
  ///   - afterNext: Called with each element after it was passed on.
  ///   - onError: Called before a failure is passed on.
  ///   - afterError: Called after a failure was passed on.
  ///   - onCompleted: Called before the good end is passed on.
  ///   - afterCompleted: Called after the good end was passed on.
  ///   - onSubscribe: Called at each subscription, before this stream is subscribed to.
  ///   - onSubscribed: Called at each subscription, after this stream was subscribed to.
  ///   - onDispose: Called once for each subscription, when it is over for any reason. After a stop event
  ///     that may be
  ///     as soon as it was passed on, before `afterError` or `afterCompleted`.
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

  /// This stream; each subscription, event and end of a subscription is printed to standard output, with the
  /// time.
  ///
  /// - Parameters:
  ///   - identifier: Stands in each line; without it, the place in the source code does.
  ///   - trimOutput: Whether events are cut to about 40 characters.
  ///   - file: The file that the lines name; that of the call.
  ///   - line: The line that they name; that of the call.
  ///   - function: The function that they name; that of the call.
  public func debug(
    _ identifier: String? = nil, trimOutput: Bool = false, file: String = #file, line: UInt = #line,
    function: String = #function
  ) -> Observable<Element> {
    let place = "\(file.split(separator: "/").last ?? ""):\(line) (\(function))"
    return debug(identifier ?? place, trimOutput: trimOutput) { print("\(WallClock.now()): \($0)") }
  }

  /// As the public one, with lines that have no time, and somebody else to print them.
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
