import Synchronization

/// One subscription of an operator that goes through streams one after the other: `concat`, `catch`, `retry`.
///
/// A stream that ends inside its own subscription is noted, and the loop that subscribed goes on to the next
/// one; so any number of streams that end at once take no more stack than one. A stream that ends later
/// starts the loop on its own thread.
@usableFromInline
final class Succession<Element: Sendable, Position: Sendable>: Sink<Element>, @unchecked Sendable {
  // Unchecked: `position` and `ending` are touched by the running stream's stop event, and by the loop before
  // it subscribes to the next stream; `turns` orders one after the other.

  /// Answers the stream that comes after a stop event; nil if that event is the end of all.
  @usableFromInline
  typealias Follow = @Sendable (inout Position, Event<Element>) throws -> Observable<Element>?

  @exclusivity(unchecked) @usableFromInline var position: Position
  @exclusivity(unchecked) @usableFromInline var ending: Event<Element>?
  @usableFromInline let follow: Follow
  /// Whether a stream's subscription is ended before the next stream is subscribed to, or afterwards: streams that
  /// share a source can tell.
  @usableFromInline let endsFirst: Bool
  /// How many streams have begun or ended that the loop has not dealt with. Who raises it from 0 is the loop.
  @usableFromInline let turns = Atomic(0)
  @usableFromInline let current = SerialDisposable()

  @inlinable
  init(_ observer: AnyObserver<Element>, _ position: Position, endsFirst: Bool, _ follow: @escaping Follow) {
    self.position = position
    self.endsFirst = endsFirst
    self.follow = follow
    super.init(observer)
  }

  /// A stream that begins with `first` and goes on with what `follow` answers.
  @inlinable
  static func stream(
    _ first: Observable<Element>, from position: Position, endsFirst: Bool = true, follow: @escaping Follow
  ) -> Observable<Element> {
    Observable { observer in
      let succession = Succession(observer, position, endsFirst: endsFirst, follow)
      succession.hold(succession.current)
      succession.turns.store(1, ordering: .relaxed)
      succession.goOn(with: first)
      return succession
    }
  }

  @inlinable
  func ended(_ event: Event<Element>) {
    ending = event
    // Acquire and release: who goes on with the loop sees what the one before it did, and `ending`.
    if turns.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue == 0 { goOn(with: nil) }
  }

  /// The loop. When it returns early all is over, and `turns` stays above 0, so nobody starts it again.
  @inlinable
  func goOn(with first: Observable<Element>?) {
    var next = first
    repeat {
      guard !isOver, let stream = next.take() ?? successor() else { return }
      subscribe(to: stream)
      // Acquire and release: as above.
    } while turns.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue > 0
  }

  @inlinable
  func successor() -> Observable<Element>? {
    guard let event = ending.take() else { preconditionFailure("a stream follows one that has not ended") }
    // Not `&position`: one without a size has no place of its own in the object, and in debug builds
    // ThreadSanitizer takes the change for one of the object's first word, which everybody reads.
    var next = position
    do {
      defer { position = next }
      guard let stream = try follow(&next, event) else {
        stop(event)
        return nil
      }
      if endsFirst { current.disposable = nil }
      // That may have run an observer's code, which may have disposed of all.
      return isOver ? nil : stream
    } catch {
      fail(error)
      return nil
    }
  }

  @inlinable
  func subscribe(to stream: Observable<Element>) {
    if stream.isKnown {
      stream.deliver { next($0) }
      return ended(.completed)
    }
    // If it ends before this returns, on whatever thread, the loop goes on only afterwards.
    current.disposable = stream.run(
      AnyObserver { [self] event in
        if case .next(let element) = event { next(element) } else { ended(event) }
      })
  }
}
