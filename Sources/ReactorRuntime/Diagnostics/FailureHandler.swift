import ReactorCore

/// A failure handler: one object for all runtimes that were given the same one, if that has captured nothing, as the default has
/// not.
///
/// A handler that has captured something ends with its runtime, so it has an object of its own.
final class FailureHandler: ListedObject {
  let body: @Sendable (Failure) -> Void
  private let code: ClosureIdentity
  let earlier: FailureHandler?
  private let count: Int

  private init(
    _ body: @escaping @Sendable (Failure) -> Void, _ code: ClosureIdentity, after earlier: FailureHandler?
  ) {
    self.body = body
    self.code = code
    self.earlier = earlier
    count = (earlier?.count ?? 0) + 1
  }

  private static let newest = AtomicReference<FailureHandler>()

  /// How many handlers are shared. A program with more pays an object for each use of the others.
  private static var most: Int { 16 }

  /// Returns the object of a handler. Any thread; lock-free; O(1).
  static func of(_ body: @escaping @Sendable (Failure) -> Void) -> FailureHandler {
    let code = ClosureIdentity(of: Holder(body: body))
    if code.hasCaptured { return FailureHandler(body, code, after: nil) }
    return newest.first(
      where: { $0.code == code },
      orAdd: { newest in
        if let newest, newest.count >= most { return nil }
        return FailureHandler(body, code, after: newest)
      })?.use({ $0 }) ?? FailureHandler(body, code, after: nil)
  }

  /// Keeps the closure as it is: as the value of a type parameter it would be wrapped in a new one.
  private struct Holder { let body: @Sendable (Failure) -> Void }
}
