/// Equal is what is the same object. For reactors whose states would be expensive, or wrong, to compare.
public protocol IdentityEquatable: AnyObject, Equatable {}

extension IdentityEquatable {
  /// Whether both are the same object. Any thread.
  @inlinable
  public static func == (lhs: Self, rhs: Self) -> Bool { lhs === rhs }
}
