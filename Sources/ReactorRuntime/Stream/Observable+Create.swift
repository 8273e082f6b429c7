/// Streams of elements that are known when they are made. Up to four elements are a value, which allocates
/// nothing.
extension Observable {
  /// Returns a stream that completes at once.
  @inlinable
  public static func empty() -> Observable { Observable(.none) }

  /// Returns a stream of one element, which then completes.
  @inlinable
  public static func just(_ element: Element) -> Observable { Observable(.one(element)) }

  /// Returns a stream of one element, which then completes; the same as ``just(_:)``.
  @inlinable
  public static func of(_ only: Element) -> Observable { .just(only) }

  /// Returns a stream of two elements in order, which then completes.
  @inlinable
  public static func of(_ first: Element, _ second: Element) -> Observable {
    Observable(.two(first, second))
  }

  /// Returns a stream of three elements in order, which then completes.
  @inlinable
  public static func of(_ first: Element, _ second: Element, _ third: Element) -> Observable {
    Observable(.three(first, second, third))
  }

  /// Returns a stream of four elements in order, which then completes.
  @inlinable
  public static func of(
    _ first: Element, _ second: Element, _ third: Element, _ fourth: Element
  ) -> Observable {
    Observable(.four(first, second, third, fourth))
  }

  /// Returns a stream of five or more elements in order, which then completes. They are held in an array.
  @inlinable
  public static func of(
    _ first: Element, _ second: Element, _ third: Element, _ fourth: Element, _ fifth: Element,
    _ more: Element...
  ) -> Observable {
    from([first, second, third, fourth, fifth] + more)
  }

  /// Returns a stream of the elements of an array in order, which then completes.
  @inlinable
  public static func from(_ elements: [Element]) -> Observable { Observable(.sequence(elements)) }
}

/// Streams that are made by each subscription.
extension Observable {
  /// Returns a stream that never sends an event.
  @inlinable
  public static func never() -> Observable { Observable { _ in Disposables.create() } }

  /// Returns a stream that fails at once.
  @inlinable
  public static func error(_ error: any Error) -> Observable { Observable(.failure(error)) }

  /// Returns a stream of the events that `subscribe` sends to the observer that it is given. Each
  /// subscription calls `subscribe` anew.
  ///
  /// Any threads may call the observer, also several at the same time, and also from inside of a delivery: it
  /// passes on one event at a time, and none after a stop event or the disposal. The disposable that
  /// `subscribe` returns is disposed of after either. A thread that brings events faster than the observer
  /// handles them blocks while more than 1024 wait, unless blocking would deadlock.
  @inlinable
  public static func create(
    _ subscribe: @escaping @Sendable (AnyObserver<Element>) -> any Disposable
  ) -> Observable {
    Observable { observer in
      let serialized = SerializedSink(observer)
      serialized.sources.insert(subscribe(AnyObserver { serialized.on($0) }))
      return serialized.sink
    }
  }

  /// Returns the stream that `factory` makes, anew for each subscription. Fails if `factory` throws.
  @inlinable
  public static func deferred(
    _ factory: @escaping @Sendable () throws -> Observable<Element>
  ) -> Observable {
    Observable { observer in
      do { return try factory().run(observer) } catch {
        observer.on(.error(error))
        return Disposables.create()
      }
    }
  }
}
