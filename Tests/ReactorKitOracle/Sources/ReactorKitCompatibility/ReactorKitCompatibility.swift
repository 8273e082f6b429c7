// What the tests import: ReactorKit, RxSwift and RxRelay, with the few names that apps get from elsewhere.
@_exported import ReactorKit
@_exported import RxRelay
@_exported import RxSwift

public typealias NoAction = Never
public typealias NoMutation = Never

extension ObservableType {
  /// The elements that are not nil, as RxSwiftExt and RxOptional have it.
  public func filterNil<Wrapped>() -> Observable<Wrapped> where Element == Wrapped? { compactMap { $0 } }
}

extension ObservableType {
  /// As RxCocoa has it, which Linux lacks.
  public func bind<Observer: ObserverType>(to observer: Observer) -> any Disposable
  where Observer.Element == Element { subscribe(observer) }
}
