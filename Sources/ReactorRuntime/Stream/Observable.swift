import ReactorCore

/// A stream of elements, in Rx's words.
///
/// Nothing happens until somebody subscribes. Events follow the grammar of ``Event``. They are delivered on
/// the threads on which the stream receives them. Where several streams meet, those of several elements take turns, as in
/// RxSwift: `merge(.of(1, 2), .of(3, 4))` sends 1, 3, 2, 4.
///
/// Up to four elements that are known at once are a value, not an object: making such a stream and iterating
/// over it allocates nothing.
public struct Observable<Element: Sendable>: ObservableType {
  /// Starts a subscription. The observer relies on being called serially.
  @usableFromInline typealias Run = @Sendable (AnyObserver<Element>) -> any Disposable

  @usableFromInline
  enum Source: Sendable {
    // Of `just`, `startWith` and the like: all elements and the completion are emitted during the subscription.
    case none
    case one(Element)
    case two(Element, Element)
    case three(Element, Element, Element)
    case four(Element, Element, Element, Element)
    // Of `of` and `from`: the elements and the completion take turns with those of other streams (`EmissionQueue`).
    case ofOne(Element)
    case ofTwo(Element, Element)
    case ofThree(Element, Element, Element)
    case ofFour(Element, Element, Element, Element)
    case sequence([Element])
    case failure(any Error)
    /// The identity tells whether two streams are the same one; nil if nobody needs to know.
    case stream(Run, identity: (any AnyObject & Sendable)?)
  }

  @usableFromInline let source: Source

  @inlinable
  init(_ source: Source) { self.source = source }

  /// Creates a stream that calls `run` at each subscription. `run` must call the observer serially, and
  /// should not call it after the disposal.
  @inlinable
  init(identity: (any AnyObject & Sendable)? = nil, run: @escaping Run) {
    source = .stream(run, identity: identity)
  }

  @inlinable
  public func asObservable() -> Observable { self }

  /// The object that this is the stream of, such as a subject; nil if there is none.
  @inlinable
  var object: (any AnyObject & Sendable)? {
    // A list of streams is no such object: it is there for `concat`.
    if case .stream(_, let identity?) = source, !(identity is Concatenation<Element>) {
      identity
    } else {
      nil
    }
  }

  /// Whether both are streams of the same object.
  @inlinable
  func isIdentical(to other: Observable) -> Bool { object.map { $0 === other.object } ?? false }

  /// Starts a subscription for an observer that keeps the grammar itself. Elements that are known at once are
  /// delivered before this returns; or, if they take turns with those of other streams, before the function returns that
  /// has opened the thread's ``EmissionQueue``.
  ///
  /// For operators, which call it while they are being subscribed to themselves. A queue is open then. An operator that
  /// subscribes to a stream later does so inside of ``joiningQueue(_:)``.
  @inlinable
  func run(_ observer: AnyObserver<Element>) -> any Disposable {
    switch source {
    case .stream(let run, _):
      assert(
        EmissionQueue.isOpen || object != nil, "no queue is open: what begins at once could not be ended")
      return run(observer)
    case .failure(let error): observer.on(.error(error))
    case .none, .one: deliverAll(to: observer)
    case .two, .three, .four: EmissionQueue.joinByCall { deliverAll(to: observer) }
    case .ofOne, .ofTwo, .ofThree, .ofFour, .sequence:
      if EmissionQueue.isOpen { return KnownEmission.append(self, observer) }
      EmissionQueue.open {
        deliverInTurns { observer.on(.next($0)) }
        observer.on(.completed)
      }
    }
    return Disposables.create()
  }
}

extension Observable {
  /// Delivers each element, and the completion. The stream must be immediate.
  @inlinable
  @inline(never)
  func deliverAll(to observer: AnyObserver<Element>) {
    deliver { observer.on(.next($0)) }
    observer.on(.completed)
  }

  /// Calls `body` with the thread's ``EmissionQueue`` open. `body` subscribes to this stream by ``run(_:)``, and makes that what
  /// ends the subscription. What takes turns begins only then. Otherwise it would be over before anything could end it.
  @inlinable
  func joiningQueue(_ body: () -> Void) {
    // Known elements need no end, and open a queue themselves if they need one. Nor does what an object replays take turns, just as
    // what it delivers later.
    if isKnown || object != nil { return body() }
    EmissionQueue.join(body)
  }

  /// Starts a subscription that `holder` holds; see ``joiningQueue(_:)``.
  @inlinable
  func run(_ observer: AnyObserver<Element>, heldBy holder: SingleAssignmentDisposable) {
    joiningQueue { holder.hold(run(observer)) }
  }
}

extension Observable {
  /// Whether both are the stream of the same object: the `state` of one reactor, or one subject. All other streams are
  /// values, of which no two are the same one. Any thread.
  public static func === (one: Observable, other: Observable) -> Bool { one.isIdentical(to: other) }

  /// Whether both are different streams; see ``===(_:_:)``.
  public static func !== (one: Observable, other: Observable) -> Bool { !(one === other) }
}

/// A type that can be made a stream: streams and subjects, and streams with a narrower grammar, such as ``Single``.
public protocol ObservableConvertibleType<Element>: Sendable {
  associatedtype Element: Sendable

  /// Returns this as a stream.
  func asObservable() -> Observable<Element>
}

/// A type with elements to observe: streams and subjects. All operators are methods of this protocol.
public protocol ObservableType<Element>: ObservableConvertibleType {}

// MARK: Known elements

/// Access to elements that are known at once, without a subscription.
extension Observable {
  /// Whether this stream is a number of known elements, and then completes.
  @inlinable
  var isKnown: Bool { knownCount != nil }

  /// How many elements there are; nil if that is not known.
  @inlinable
  var knownCount: Int? {
    switch source {
    case .failure, .stream: nil
    case .none: 0
    case .one, .ofOne: 1
    case .two, .ofTwo: 2
    case .three, .ofThree: 3
    case .four, .ofFour: 4
    case .sequence(let elements): elements.count
    }
  }

  /// Whether this stream is known, and emits all during the subscription, even where others take turns.
  @inlinable
  var isImmediate: Bool {
    switch source {
    case .none, .one, .two, .three, .four: true
    case .ofOne, .ofTwo, .ofThree, .ofFour, .sequence, .failure, .stream: false
    }
  }

  /// The element of that index; nil behind the last one. The stream must be known.
  @inlinable
  func element(at index: Int) -> Element? {
    if case .sequence(let elements) = source { return index < elements.count ? elements[index] : nil }
    var (next, found) = (0, Element?.none)
    deliver { element in
      if next == index { found = element }
      next += 1
    }
    return found
  }

  /// As ``deliver(to:)``; after each element, whatever else waits in the open ``EmissionQueue`` gets its turn, unless this
  /// stream is immediate. Called where the queue was opened.
  @inlinable
  func deliverInTurns(to body: (Element) -> Void) {
    let isImmediate = isImmediate
    deliver { element in
      body(element)
      if !isImmediate { EmissionQueue.emitWaiting() }
    }
  }

  /// As ``deliver(to:)``, of an immediate stream, with the thread's ``EmissionQueue`` open unless there is one element: what operators
  /// make of several takes turns, as in RxSwift. For operators, which may be called outside of any subscription and turn.
  @inlinable
  @inline(__always)
  func deliverJoiningQueue(to body: (Element) -> Void) {
    if case .one(let only) = source { return body(only) }
    EmissionQueue.joinByCall { deliver(to: body) }
  }

  /// Calls `body` with each element, in order, before it returns. The stream must be known.
  @inlinable
  func deliver(to body: (Element) -> Void) {
    deliver(to: body, orStream: { _ in preconditionFailure("not a stream of known elements") })
  }

  /// Calls `body` with each element, in order, before it returns; or, if the stream is not known, `other`
  /// once, with this stream.
  ///
  /// One switch over the stream does both, so that the compiler can remove the stream where the function that
  /// makes it is inlined. It checks that of `just` first: a switch over so many cases with elements of several fields, such as
  /// a string, is kept in memory and copied there, even if it is known which case it is.
  @inlinable
  @inline(__always)
  func deliver(to body: (Element) -> Void, orStream other: (Observable) -> Void) {
    if case .one(let only) = source { return body(only) }
    switch source {
    case .none:
      break
    case .one(let only), .ofOne(let only):
      body(only)
    case .two(let first, let second), .ofTwo(let first, let second):
      body(first)
      body(second)
    case .three(let first, let second, let third), .ofThree(let first, let second, let third):
      body(first)
      body(second)
      body(third)
    case .four(let first, let second, let third, let fourth),
      .ofFour(let first, let second, let third, let fourth):
      body(first)
      body(second)
      body(third)
      body(fourth)
    case .sequence(let elements):
      for element in elements { body(element) }
    case .failure(let error):
      other(Observable(.failure(error)))
    case .stream(let run, let identity):
      other(Observable(.stream(run, identity: identity)))
    }
  }
}

/// Streams of elements that are known when they are made. Up to four elements are a value, which allocates
/// nothing.
///
/// `just`, `empty` and `from(optional:)` emit during the subscription. Those of `of` and `from` take turns with other
/// streams, one element each, where several are subscribed to by one operator.
extension Observable {
  /// Returns a stream that completes at once.
  @inlinable
  public static func empty() -> Observable { Observable(.none) }

  /// Returns a stream of one element, which then completes.
  @inlinable
  public static func just(_ element: Element) -> Observable { Observable(.one(element)) }

  /// Returns a stream of one element, which then completes.
  @inlinable
  public static func of(_ only: Element) -> Observable { Observable(.ofOne(only)) }

  /// Returns a stream of two elements in order, which then completes.
  @inlinable
  public static func of(_ first: Element, _ second: Element) -> Observable {
    Observable(.ofTwo(first, second))
  }

  /// Returns a stream of three elements in order, which then completes.
  @inlinable
  public static func of(_ first: Element, _ second: Element, _ third: Element) -> Observable {
    Observable(.ofThree(first, second, third))
  }

  /// Returns a stream of four elements in order, which then completes.
  @inlinable
  public static func of(
    _ first: Element, _ second: Element, _ third: Element, _ fourth: Element
  ) -> Observable {
    Observable(.ofFour(first, second, third, fourth))
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

  /// Returns a stream of the elements of a sequence in order, which then completes. They are held in an array, so the
  /// sequence must be finite.
  @inlinable
  public static func from(_ elements: some Sequence<Element>) -> Observable { from(Array(elements)) }

  /// Returns a stream of the element, if it is not nil, which then completes.
  @inlinable
  public static func from(optional element: Element?) -> Observable {
    if let element { .just(element) } else { .empty() }
  }
}

/// Streams under the names of ``Observable``, where a stream of any type is expected: `concat([.just(a), single])`.
extension ObservableConvertibleType {
  /// Returns ``Observable/just(_:)``.
  @_disfavoredOverload
  public static func just<Value>(_ element: Value) -> Self where Self == Observable<Value> {
    Observable(.one(element))
  }

  /// Returns ``Observable/empty()``.
  @_disfavoredOverload
  public static func empty<Value>() -> Self where Self == Observable<Value> { Observable(.none) }

  /// Returns ``Observable/error(_:)``.
  @_disfavoredOverload
  public static func error<Value>(_ error: any Error) -> Self where Self == Observable<Value> {
    Observable(.failure(error))
  }
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
  /// handles them blocks while more than 1024 wait, unless this runtime's own waits would form a cycle. So do not call
  /// the observer while you hold a lock that an observer takes.
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

  /// Returns a stream that makes a resource for each subscription, and disposes of it when that is over: after the subscription to
  /// the stream that uses it, also if that stream ends inside of its own subscription.
  ///
  /// - Parameters:
  ///   - resourceFactory: Makes the resource. If it throws, the stream fails.
  ///   - observableFactory: Returns the stream that uses it. If it throws, the stream fails, and the resource is disposed of.
  public static func using<Resource: Disposable>(
    _ resourceFactory: @escaping @Sendable () throws -> Resource,
    observableFactory: @escaping @Sendable (Resource) throws -> Observable<Element>
  ) -> Observable {
    Observable { observer in
      let sink = Sink(observer)
      do {
        let resource = try resourceFactory()
        let stream: Observable
        do { stream = try observableFactory(resource) } catch { stream = .error(error) }
        // Not before the subscription is made: if the stream ends meanwhile, its own disposable comes first all the same, since that
        // may still use the resource.
        sink.hold(Disposables.create(stream.run(AnyObserver { sink.on($0) }), resource))
      } catch { sink.fail(error) }
      return sink
    }
  }
}
