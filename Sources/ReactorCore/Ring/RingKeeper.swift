/// Destroys a ring with what is left inside when its owner goes away.
///
/// An object, and not a `deinit` of the owner: Swift 6.3 takes a generic structure whose layout depends on an
/// associated type for trivial if that turns out to hold no reference, and then skips its `deinit` wherever
/// it is destroyed by code that is not specialised for it. All owners of raw parts have such a keeper.
@usableFromInline
final class RingKeeper<C: Core, Element: ~Copyable> {
  private let raw: C.Ring

  @usableFromInline
  init(_ raw: C.Ring) { self.raw = raw }

  deinit {
    destroyRemaining()
    raw.destroy()
  }

  /// Destroys what was published and not received. Behind a claim that was never published, too: the words
  /// of its slots say that nothing is there, so they are passed over one by one.
  private func destroyRemaining() {
    var cursor = raw.head
    destroy(Int(raw.runLeft), &cursor)
    while cursor << 1 != raw.tail << 1 {
      switch raw.peek(cursor) {
      case .notReady: cursor &+= 1
      case .skip(let count): cursor &+= UInt64(count)
      case .run(let count): destroy(Int(count), &cursor)
      }
    }
  }

  private func destroy(_ count: Int, _ cursor: inout UInt64) {
    for _ in 0..<count {
      raw.slots.payload(cursor, as: Element.self).deinitialize(count: 1)
      cursor &+= 1
    }
  }
}

// Unchecked: it is used by whoever lets the last reference go, after everybody else is done.
extension RingKeeper: @unchecked Sendable where Element: ~Copyable {}
