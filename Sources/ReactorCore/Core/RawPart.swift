/// Something that a core made: a reference, which whoever made it destroys once.
public protocol RawPart: Sendable {
  /// Nobody else may use it any more.
  func destroy()
}

/// Destroys a raw part when the owner that holds this object goes away.
///
/// An object, and not a `deinit` of the owner: Swift 6.3 takes a generic structure whose layout depends on an
/// associated type for trivial if that turns out to hold no reference, and then skips its `deinit` wherever
/// it is destroyed by code that is not specialised for it. All owners of raw parts have a keeper, this one or
/// one of their own.
@usableFromInline
final class RawKeeper<Raw: RawPart>: Sendable {
  private let raw: Raw

  @usableFromInline
  init(_ raw: Raw) { self.raw = raw }

  deinit { raw.destroy() }
}
