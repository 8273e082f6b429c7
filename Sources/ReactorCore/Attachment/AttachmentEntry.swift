/// What a table knows of one object. Constant.
final class AttachmentEntry: @unchecked Sendable {
  // Unchecked: constants; of an object that is not Sendable nothing is touched but its counts of references.
  let identity: ObjectIdentifier
  /// Nil from the beginning of the object's deinit on.
  private weak let object: AnyObject?
  /// Never read: it keeps the address from being given to another object.
  private unowned let address: AnyObject
  let value: any AnyObject & Sendable

  init(_ object: AnyObject, _ value: any AnyObject & Sendable) {
    identity = ObjectIdentifier(object)
    self.object = object
    address = object
    self.value = value
  }

  /// Whether the object's deinit has begun. Final if true. The caller holds no mutex: to ask may be to let go
  /// of the last reference to the object.
  var isDead: Bool { object == nil }
}
