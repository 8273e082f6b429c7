import ReactorCore
import Synchronization

// One stream after the other: `concat` and `retry`, and the loop that they share.

/// One stream after the other.
extension ObservableType {
  /// Sends the given elements, then this stream.
  @inlinable
  public func startWith(_ elements: Element...) -> Observable<Element> {
    let source = asObservable()
    if let joined = Observable.joined(elements.map { .just($0) } + [source]) { return joined }
    return Observable { observer in
      for element in elements { observer.on(.next(element)) }
      return source.run(observer)
    }
  }

  /// Sends this stream, then `second` when this stream has completed and its subscription was disposed of.
  ///
  /// - Complexity: O(1), also for a result of `concat`. So a list of streams may be joined one by one.
  @inlinable
  public func concat(_ second: some ObservableConvertibleType<Element>) -> Observable<Element> {
    let first = asObservable()
    if let list = first.concatenation {
      return Concatenation(after: list, [second.asObservable()]).stream
    }
    return Observable.concat([first, second.asObservable()])
  }
}

extension Observable {
  /// Sends the streams one after the other. Each is subscribed to when the one before has completed and all
  /// of its elements were delivered. Fails as soon as one fails.
  @inlinable
  public static func concat(_ sources: Observable<Element>...) -> Observable<Element> {
    Observable.concat(sources)
  }

  /// Sends the streams one after the other. Each is subscribed to when the one before has completed and all
  /// of its elements were delivered. Fails as soon as one fails.
  ///
  /// The sequence is read once, by this call, so it must be finite.
  @inlinable
  public static func concat(_ sources: some Sequence<Observable<Element>>) -> Observable<Element> {
    let streams = Array(sources)
    if let joined = Observable.joined(streams) { return joined }
    if streams.count == 1 { return streams[0] }
    return Concatenation(after: nil, streams).stream
  }

  /// The streams that this one sends, if it is a result of `concat`.
  @inlinable
  var concatenation: Concatenation<Element>? {
    if case .stream(_, let identity?) = source { identity as? Concatenation<Element> } else { nil }
  }

  /// As the function that takes an array of observables, with streams of several types, such as ``MainObservable`` and
  /// ``Single``.
  @_disfavoredOverload
  public static func concat(_ sources: [any ObservableConvertibleType<Element>]) -> Observable<Element> {
    Observable.concat(sources.map { $0.asObservable() })
  }

  /// As the function that takes observables, with streams of several types, such as ``MainObservable`` and ``Single``.
  @_disfavoredOverload
  public static func concat(_ sources: any ObservableConvertibleType<Element>...) -> Observable<Element> {
    Observable.concat(sources.map { $0.asObservable() })
  }

  /// Returns the streams one after the other as a value, if they are immediate and have at most four elements.
  @inlinable
  static func joined(_ streams: [Observable]) -> Observable? {
    var count = 0
    for stream in streams {
      guard stream.isImmediate, let more = stream.knownCount else { return nil }
      count += more
    }
    if count > 4 { return nil }
    var (first, second, third, fourth): (Element?, Element?, Element?, Element?)
    for stream in streams {
      stream.deliver { element in
        if first == nil {
          first = element
        } else if second == nil {
          second = element
        } else if third == nil {
          third = element
        } else {
          fourth = element
        }
      }
    }
    guard let first else { return .empty() }
    guard let second else { return .just(first) }
    guard let third else { return Observable(.two(first, second)) }
    guard let fourth else { return Observable(.three(first, second, third)) }
    return Observable(.four(first, second, third, fourth))
  }
}

/// The streams of a `concat`. It is the identity of the result, by which a further `concat` finds it and appends to it, and
/// a subscription finds those in it. So however they are nested, their streams are subscribed to as one list.
@usableFromInline
final class Concatenation<Element: Sendable>: @unchecked Sendable {
  // Unchecked, and without a check of exclusive access: `head` and `streams` change only when the last reference is gone.

  /// What comes before `streams`.
  @usableFromInline var head: Concatenation?
  @exclusivity(unchecked) @usableFromInline var streams: [Observable<Element>]
  @usableFromInline let isFlat: Bool

  // Inlined, like everything that a flat list needs. Code that is not specialised looks up metadata at each step: that was a fifth of
  // the time of an action whose `mutate` returns a `concat`.
  @inlinable
  init(after head: Concatenation?, _ streams: [Observable<Element>]) {
    self.head = head
    self.streams = streams
    isFlat = head == nil && streams.allSatisfy { $0.concatenation == nil }
  }

  deinit {
    if isFlat { return }
    // One after the other: a list that was appended to very often, or lists that are nested deeply, would overflow the stack.
    var lists = takeLists()
    while var next = lists.popLast() {
      // If another reference goes away meanwhile, the list does this itself.
      if !next.isFlat, isKnownUniquelyReferenced(&next) { lists += next.takeLists() }
    }
  }

  /// Takes out the lists that this one consists of, when nobody uses it any more.
  private func takeLists() -> [Concatenation] {
    var lists = streams.compactMap(\.concatenation)
    // With them go the other references to their lists.
    streams = []
    if let head = head.take() { lists.append(head) }
    return lists
  }

  @inlinable
  var stream: Observable<Element> {
    Observable(identity: self) { [self] observer in run(observer) }
  }

  @inlinable
  func run(_ observer: AnyObserver<Element>) -> any Disposable {
    let streams = flattened
    return SequentialSubscription.start(streams[0], from: 1, observer) { index, event in
      guard event.isCompleted, index < streams.count else { return nil }
      defer { index += 1 }
      return streams[index]
    }
  }

  /// The streams of this and of the lists in it, in their order; at least one. O(n) in their number.
  @inlinable
  var flattened: [Observable<Element>] { isFlat ? streams : flattenedLists }

  @usableFromInline
  var flattenedLists: [Observable<Element>] {
    // From the end: the lists that are not done, and how many streams each has left.
    var lists = [(list: self, left: streams.count)]
    var reversed: [Observable<Element>] = []
    while let (list, left) = lists.popLast() {
      if left == 0 {
        if let head = list.head { lists.append((head, head.streams.count)) }
        continue
      }
      if left > 1 || list.head != nil { lists.append((list, left - 1)) }
      let stream = list.streams[left - 1]
      if let inner = stream.concatenation {
        lists.append((inner, inner.streams.count))
      } else {
        reversed.append(stream)
      }
    }
    return reversed.reversed()
  }
}

/// Trying again after a failure.
extension ObservableType {
  /// Subscribes to this stream again whenever it fails.
  ///
  /// If the stream fails each time inside of its own subscription, the subscription never returns, and nothing can end it, as in
  /// RxSwift: nobody has the result yet that would have to be disposed of. Let such a stream fail later, such as by
  /// ``delaySubscription(_:scheduler:)``, or limit the attempts with ``retry(_:)``.
  ///
  /// The failed subscription is disposed of before the next one begins. So a shared source that has no other
  /// subscriber begins anew.
  @inlinable
  public func retry() -> Observable<Element> {
    let source = asObservable()
    if source.isKnown { return source }
    return SequentialSubscription.stream(source, from: ()) { _, event in event.isCompleted ? nil : source }
  }

  /// Subscribes to this stream again when it fails, at most `maxAttemptCount` times in all; `retry(2)` tries
  /// again once. With a count of 0 or less the result is empty.
  ///
  /// The failed subscription is disposed of before the next one begins. So a shared source that has no other
  /// subscriber begins anew.
  @inlinable
  public func retry(_ maxAttemptCount: Int) -> Observable<Element> {
    let source = asObservable()
    if maxAttemptCount <= 0 { return .empty() }
    if source.isKnown || maxAttemptCount == 1 { return source }
    return SequentialSubscription.stream(source, from: maxAttemptCount - 1) { left, event in
      if event.isCompleted || left == 0 { return nil }
      left -= 1
      return source
    }
  }
}

/// One subscription of an operator that subscribes to streams one after the other.
///
/// A loop subscribes to one stream after the other. A stream that ends inside of its own subscription only
/// counts `turns` up, and the loop that subscribed goes on to the next one; so streams that end at once take
/// no more stack than one, however many there are. A stream that ends later runs the loop on its own thread.
@usableFromInline
final class SequentialSubscription<Element: Sendable, Position: Sendable>: Sink<Element>, @unchecked Sendable
{
  // Unchecked: two threads touch `position` and `ending`: that of the running stream's stop event, and that
  // of the loop, before it subscribes to the next stream. `turns` orders one after the other.

  /// Returns the stream that follows a stop event; nil if the result ends with that event.
  @usableFromInline
  typealias Follow = @Sendable (inout Position, Event<Element>) throws -> Observable<Element>?

  @exclusivity(unchecked) @usableFromInline var position: Position
  @exclusivity(unchecked) @usableFromInline var ending: Event<Element>?
  @usableFromInline let follow: Follow
  /// How many streams have begun or ended that the loop has not dealt with. The thread that raises it from 0
  /// is the loop.
  @usableFromInline let turns = Atomic(0)
  @usableFromInline let current = SerialDisposable()

  @inlinable
  init(_ observer: AnyObserver<Element>, _ position: Position, _ follow: @escaping Follow) {
    self.position = position
    self.follow = follow
    super.init(observer)
  }

  /// Returns a stream that begins with `first` and goes on with what `follow` returns.
  @inlinable
  static func stream(
    _ first: Observable<Element>, from position: Position, follow: @escaping Follow
  ) -> Observable<Element> {
    Observable { observer in start(first, from: position, observer, follow: follow) }
  }

  /// Starts a subscription of such a stream.
  @inlinable
  static func start(
    _ first: Observable<Element>, from position: Position, _ observer: AnyObserver<Element>,
    follow: @escaping Follow
  ) -> any Disposable {
    let subscription = SequentialSubscription(observer, position, follow)
    subscription.hold(subscription.current)
    // Relaxed: no other thread knows the object yet.
    subscription.turns.store(1, ordering: .relaxed)
    subscription.runLoop(from: first)
    return subscription
  }

  /// Notes that the current stream has ended, and runs the loop unless that is running.
  @inlinable
  func noteEnd(_ event: Event<Element>) {
    ending = event
    // Acquire and release: the thread that goes on with the loop sees `ending`, and what the loop did before.
    if turns.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue == 0 { runLoop(from: nil) }
  }

  /// The loop. When it returns early, the subscription is over; `turns` then stays above 0, so that no thread
  /// starts it again.
  @inlinable
  func runLoop(from first: Observable<Element>?) {
    var next = first
    repeat {
      guard !isOver, let stream = next.take() ?? takeSuccessor() else { return }
      subscribe(to: stream)
      // Acquire and release: as above.
    } while turns.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue > 0
  }

  /// Ends the stream that has ended, and returns the next one; nil if the subscription is over.
  @inlinable
  func takeSuccessor() -> Observable<Element>? {
    guard let event = ending.take() else { preconditionFailure("a stream follows one that has not ended") }
    // Not `&position`: a position without a size has no place of its own in the object, and in debug builds
    // ThreadSanitizer takes the change for one of the object's first word, which every thread reads.
    var next = position
    do {
      defer { position = next }
      guard let stream = try follow(&next, event) else {
        stop(event)
        return nil
      }
      // Streams that share a source can tell that this comes before the next subscription.
      current.disposable = nil
      // That may have run an observer's code, which may have disposed of this.
      return isOver ? nil : stream
    } catch {
      fail(error)
      return nil
    }
  }

  @inlinable
  func subscribe(to stream: Observable<Element>) {
    if stream.isImmediate {
      stream.deliverJoiningQueue { next($0) }
      return noteEnd(.completed)
    }
    // If it ends before this returns, on whatever thread, the loop goes on only afterwards.
    stream.joiningQueue {
      current.disposable = stream.run(
        AnyObserver { [self] event in
          if case .next(let element) = event { next(element) } else { noteEnd(event) }
        })
    }
  }
}
