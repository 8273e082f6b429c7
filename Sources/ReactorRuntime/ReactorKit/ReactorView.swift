/// What shows the state of a reactor and sends it actions: any object, there is no UI framework here.
///
/// ```swift
/// final class Console: ReactorView {
///   var disposeBag = DisposeBag()
///
///   func bind(reactor: Counter) {
///     lines.bind(to: reactor.action).disposed(by: disposeBag)
///     reactor.state.map(\.value).subscribe(onNext: { print($0) }).disposed(by: disposeBag)
///   }
/// }
/// console.reactor = Counter()
/// ```
///
/// Threads: a view is used by one thread at a time, in ReactorKit the main one; a reactor calls the
/// subscribers to its state on the thread of its turns. So a class that is not `Sendable` can be a view, and
/// stays with whoever made it. One that belongs to an actor says so of the conformance as well: `@MainActor
/// final class Screen: @MainActor ReactorView`.
///
/// The view keeps its reactor alive, and not the other way round unless ``bind(reactor:)`` captures the view.
/// A view that goes away lets its reactor go with its ``disposeBag``. If the bag was exchanged or is held by
/// others too, that can take until a second later; the view's own memory is then freed, and its deinit may run,
/// on another thread.
public protocol ReactorView: AnyObject {
  /// The type of the view's reactor; it follows from ``bind(reactor:)``.
  associatedtype Reactor: ReactorRuntime.Reactor

  /// What ends when the view gets another reactor. Renewed each time that ``reactor`` is set.
  var disposeBag: DisposeBag { get set }

  /// The view's reactor. Setting it, also to the same one or to nil, renews ``disposeBag``; then
  /// ``bind(reactor:)`` is called, unless it is nil.
  ///
  /// Need not be written: without a property for it, it is kept beside the object.
  var reactor: Reactor? { get set }

  /// Connects the view with its reactor: its inputs to the actions, the state to what it shows. Called each
  /// time that ``reactor`` is set; not to be called by others.
  func bind(reactor: Reactor)
}

extension ReactorView {
  public var reactor: Reactor? {
    get { ViewBinding.reactor(of: self) as? Reactor }
    set {
      ViewBinding.set(newValue, of: self)
      if let newValue { bind(reactor: newValue) }
    }
  }
}

/// A view that is bound only once it is ready: when it has called ``performBinding()``.
///
/// In ReactorKit that is when a view controller has loaded its view. Here the view says so itself:
///
/// ```swift
/// final class Console: DeferredReactorView {
///   var disposeBag = DisposeBag()
///   func open() {
///     …
///     performBinding()
///   }
///   func bind(reactor: Counter) { … }
/// }
/// ```
///
/// Threads: as ``ReactorView``.
public protocol DeferredReactorView: ReactorView {
  /// Says that the view is ready: binds its reactor, if it has one that is not yet bound. A reactor that it
  /// gets later is bound at once.
  func performBinding()
}

extension DeferredReactorView {
  /// As ``ReactorView/reactor``, but nothing is bound before the view is ready; the last one set is bound
  /// then.
  public var reactor: Reactor? {
    get { ViewBinding.reactor(of: self) as? Reactor }
    set {
      ViewBinding.set(newValue, of: self)
      bindIfReady()
    }
  }

  public func performBinding() {
    ViewBinding.becomeReady(self)
    bindIfReady()
  }

  private func bindIfReady() {
    if let reactor = ViewBinding.takeReactorToBind(of: self) as? Reactor { bind(reactor: reactor) }
  }
}

/// Hashed by identity, so that objects can be elements of a set or keys of a dictionary.
public protocol IdentityHashable: Hashable, IdentityEquatable {}

extension IdentityHashable {
  /// Hashes which object this is. Any thread.
  @inlinable
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Equal is what is the same object. For reactors whose states would be expensive, or wrong, to compare.
public protocol IdentityEquatable: AnyObject, Equatable {}

extension IdentityEquatable {
  /// Whether both are the same object. Any thread.
  @inlinable
  public static func == (lhs: Self, rhs: Self) -> Bool { lhs === rhs }
}
