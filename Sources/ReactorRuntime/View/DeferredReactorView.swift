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
