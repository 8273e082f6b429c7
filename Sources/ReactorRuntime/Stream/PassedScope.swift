import ReactorCore

/// What an element brings along on its way through a stream. A thread that brings the element is inside of this scope (see
/// `ThreadScope`). Code that lets what becomes of the element pass later remembers the scopes, and is inside of them again then:
/// ``enter(_:_:)``.
@usableFromInline
package class PassedScope: @unchecked Sendable {
  // Unchecked: the superclass has no properties.

  @usableFromInline
  init() {}

  /// Notes that something waits that has passed. Any thread.
  @usableFromInline
  func retainSignal() {}

  /// Ends what ``retainSignal()`` began. Any thread.
  @usableFromInline
  func releaseSignal() {}

  /// Calls `body` with the calling thread inside of scopes.
  ///
  /// - Parameter scopes: The innermost first.
  @usableFromInline
  static func enter(_ scopes: ArraySlice<PassedScope>, _ body: () -> Void) {
    guard let outermost = scopes.last else { return body() }
    ThreadScope.enter(outermost) { enter(scopes.dropLast(), body) }
  }
}
