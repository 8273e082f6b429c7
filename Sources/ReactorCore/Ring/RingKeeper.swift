/// Destroys a ring with what is left inside when its owner goes away; why it is an object: see `RawKeeper`.
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
