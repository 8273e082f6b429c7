/// Streams made from scratch.
extension Observable {
  /// Never says anything.
  @inlinable
  public static func never() -> Observable { Observable { _ in Disposables.create() } }

  /// Fails at once.
  @inlinable
  public static func error(_ error: any Error) -> Observable { Observable(.failure(error)) }

  /// A stream of what `subscribe` tells the observer that it is given, anew for each subscription.
  ///
  /// The observer may be called from any threads, also from several at once and from inside itself: it passes
  /// one event on at a time, and none after a stop event or the disposal. What `subscribe` answers is
  /// disposed after either.
  public static func create(
    _ subscribe: @escaping @Sendable (AnyObserver<Element>) -> any Disposable
  ) -> Observable {
    Observable { observer in
      let funnel = Funnel(observer)
      funnel.sources.insert(subscribe(AnyObserver { funnel.on($0) }))
      return funnel.sink
    }
  }

  /// The stream that `factory` makes, anew for each subscription; fails if that throws.
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
