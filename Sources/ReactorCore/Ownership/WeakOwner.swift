/// An object that is not retained, together with a part of it that lives as long as the object does: to be
/// reached from what must not keep the object.
public struct WeakOwner<Owner: AnyObject & Sendable, Part: AnyObject & Sendable>: Sendable {
  /// The object, as long as it is there.
  public private(set) weak var owner: Owner?
  // Not counted: nobody gets at it without the owner, which keeps it.
  @usableFromInline unowned(unsafe) let part: Part

  /// Holds `owner` weakly. The part must live as long as it does.
  @unsafe
  public init(_ owner: Owner, part: Part) {
    self.owner = owner
    self.part = part
  }

  /// The part of an owner that is held.
  @inlinable
  public func part(of owner: Owner) -> Part { part }

  /// Calls `body` with both, unless the owner is gone; it stays for as long as that runs. Any thread.
  ///
  /// - Returns: Whether the owner was there.
  @inlinable
  @discardableResult
  public func use(_ body: (Part, Owner) -> Void) -> Bool {
    guard let owner else { return false }
    body(part, owner)
    return true
  }
}
