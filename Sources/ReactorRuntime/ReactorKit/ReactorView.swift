/// An object that shows the state of a reactor and sends it actions. It can be any class; no UI framework is needed.
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
/// Threads: one thread at a time may use a view, in ReactorKit the main thread. A class that is not `Sendable` can be
/// a view. The reactor calls the observers of its state on the thread of its turns. A view that is isolated to an
/// actor isolates the conformance too: `@MainActor final class Screen: @MainActor ReactorView`.
///
/// The view retains its reactor. The reactor does not retain the view, unless closures in ``bind(reactor:)`` capture
/// it strongly. When the view is freed, its ``disposeBag`` releases the reactor. If the view replaced the bag, or
/// other objects retain it too, the reactor is released up to a second later. In that case the view's memory is freed
/// on another thread, and its deinit may run there.
public protocol ReactorView: AnyObject {
  /// The type of the view's reactor, inferred from ``bind(reactor:)``.
  associatedtype Reactor: ReactorRuntime.Reactor

  /// The subscriptions that end when the view gets another reactor. Setting ``reactor`` replaces the bag by a new
  /// one.
  var disposeBag: DisposeBag { get set }

  /// The view's reactor. Setting it, also to the same reactor or to nil, replaces ``disposeBag`` by a new one, and
  /// then calls ``bind(reactor:)`` unless the reactor is nil.
  ///
  /// A view need not declare this property. Without it, the reactor is kept in a table beside the object.
  var reactor: Reactor? { get set }

  /// Connects the view with its reactor: inputs with actions, and the state with what the view shows. Setting
  /// ``reactor`` calls it; other code should not.
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

/// A view that is bound once it is ready, which it reports by calling ``performBinding()``.
///
/// In ReactorKit a view controller is ready when it has loaded its view. Here the view decides:
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
/// Threads: as for ``ReactorView``.
public protocol DeferredReactorView: ReactorView {
  /// Marks the view as ready, and binds its reactor if it has one that is not bound. Reactors that are set later are
  /// bound at once.
  func performBinding()
}

extension DeferredReactorView {
  /// Like ``ReactorView/reactor``, but nothing is bound before the view is ready. When it is, the reactor that was set
  /// last is bound.
  public var reactor: Reactor? {
    get { ViewBinding.reactor(of: self) as? Reactor }
    set {
      ViewBinding.set(newValue, of: self)
      bindIfReady()
    }
  }

  public func performBinding() {
    ViewBinding.markReady(self)
    bindIfReady()
  }

  private func bindIfReady() {
    if let reactor = ViewBinding.takeReactorToBind(of: self) as? Reactor { bind(reactor: reactor) }
  }
}

/// Objects that are hashed by identity, so that they can be elements of a set or keys of a dictionary.
public protocol IdentityHashable: Hashable, IdentityEquatable {}

extension IdentityHashable {
  /// Hashes the object's identity. Any thread.
  @inlinable
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Objects that are equal only to themselves. For reactors, whose states would be expensive or wrong to compare.
public protocol IdentityEquatable: AnyObject, Equatable {}

extension IdentityEquatable {
  /// Returns whether both are the same object. Any thread.
  @inlinable
  public static func == (lhs: Self, rhs: Self) -> Bool { lhs === rhs }
}
