/// Hashed by identity, so that objects can be elements of a set or keys of a dictionary.
public protocol IdentityHashable: Hashable, IdentityEquatable {}

extension IdentityHashable {
  /// Hashes which object this is. Any thread.
  @inlinable
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
