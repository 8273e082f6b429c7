/// A stream of elements, in Rx's words: what ``Reactor/mutate(action:)`` answers, and what ``Reactor/state``
/// is.
///
/// Nothing happens until somebody subscribes. Events follow the grammar of ``Event``, from whatever threads
/// the stream gets them.
///
/// Up to four elements that are known at once are a value, not an object: making such a stream and going
/// through it allocates nothing.
public struct Observable<Element: Sendable>: ObservableType {
  /// Starts a subscription. The observer relies on being called serially.
  @usableFromInline typealias Run = @Sendable (AnyObserver<Element>) -> any Disposable

  /// Grows with the kinds of streams; not meant to be matched outside the runtime.
  @usableFromInline
  enum Source: Sendable {
    case none
    case one(Element)
    case two(Element, Element)
    case three(Element, Element, Element)
    case four(Element, Element, Element, Element)
    case sequence([Element])
    case failure(any Error)
    /// The identity says whether two streams are the same one; nil if nobody needs to know.
    case stream(Run, identity: (any AnyObject & Sendable)?)
  }

  @usableFromInline let source: Source

  @inlinable
  init(_ source: Source) { self.source = source }

  /// A stream of whatever `run` does at each subscription. It must call the observer serially, and should not
  /// after it was disposed.
  @inlinable
  init(identity: (any AnyObject & Sendable)? = nil, run: @escaping Run) {
    source = .stream(run, identity: identity)
  }

  @inlinable
  public func asObservable() -> Observable { self }

  /// Whether both are streams of one identity.
  @inlinable
  func isIdentical(to other: Observable) -> Bool {
    if case .stream(_, let mine?) = source, case .stream(_, let its?) = other.source {
      mine === its
    } else {
      false
    }
  }

  /// Starts a subscription for an observer that keeps the grammar itself. What is known at once is delivered
  /// before this returns.
  @inlinable
  func run(_ observer: AnyObserver<Element>) -> any Disposable {
    switch source {
    case .stream(let run, _): return run(observer)
    case .failure(let error): observer.on(.error(error))
    default:
      deliver(to: { observer.on(.next($0)) }, orStream: { _ in })
      observer.on(.completed)
    }
    return Disposables.create()
  }
}

/// Whatever has elements to observe: streams and subjects. All operators are methods of it.
public protocol ObservableType<Element>: Sendable {
  associatedtype Element: Sendable

  /// This as a stream.
  func asObservable() -> Observable<Element>
}

/// RxSwift's name for what can be made a stream.
public typealias ObservableConvertibleType = ObservableType
