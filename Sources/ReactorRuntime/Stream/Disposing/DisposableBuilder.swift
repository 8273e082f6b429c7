/// Builds the list of disposables that a ``DisposeBag`` is made of.
@resultBuilder
public enum DisposableBuilder {
  public static func buildExpression(_ disposable: any Disposable) -> [any Disposable] { [disposable] }
  public static func buildBlock(_ parts: [any Disposable]...) -> [any Disposable] { parts.flatMap(\.self) }
  public static func buildOptional(_ part: [any Disposable]?) -> [any Disposable] { part ?? [] }
  public static func buildEither(first part: [any Disposable]) -> [any Disposable] { part }
  public static func buildEither(second part: [any Disposable]) -> [any Disposable] { part }
  public static func buildArray(_ parts: [[any Disposable]]) -> [any Disposable] { parts.flatMap(\.self) }
}

extension DisposeBag {
  /// Creates a bag with the disposables that the block lists:
  ///
  /// ```swift
  /// let bag = DisposeBag {
  ///   taps.bind(to: reactor.action)
  ///   reactor.state.subscribe(onNext: { print($0) })
  /// }
  /// ```
  public convenience init(@DisposableBuilder builder: () -> [any Disposable]) {
    self.init()
    insert(builder())
  }

  /// Creates a bag with members.
  public convenience init(disposing disposables: any Disposable...) {
    self.init()
    insert(disposables)
  }

  /// Creates a bag with members.
  public convenience init(disposing disposables: [any Disposable]) {
    self.init()
    insert(disposables)
  }

  /// Adds the disposables that the block lists. Any thread.
  public func insert(@DisposableBuilder builder: () -> [any Disposable]) { insert(builder()) }
}
