import ReactorCore

/// The watched descriptors of the main loop. The system has one entry for each descriptor, with everything that is
/// waited for there; this table has one watch for each call of ``MainLoop/watch(_:for:_:)``.
final class WatchTable: Sendable {
  private final class Watch: Sendable {
    let interest: Poller.Interest
    let body: @Sendable () -> Void

    init(_ interest: Poller.Interest, _ body: @escaping @Sendable () -> Void) {
      self.interest = interest
      self.body = body
    }
  }

  /// The watches of a descriptor.
  private struct Entry: Sendable {
    /// What the poller returns for it. A descriptor may be closed, and its number used again, while an event is on its way.
    let tag: UInt64
    var watches: [Watch] = []

    var interest: Poller.Interest { watches.reduce(into: []) { $0.formUnion($1.interest) } }
  }

  private struct Table: Sendable {
    var entries: [Int32: Entry] = [:]
    private var made: UInt64 = 0

    mutating func makeEntry(for descriptor: Int32) -> Entry {
      made += 1
      // 31 bits, below the mark.
      return Entry(tag: WatchTable.mark | (made & 0x7fff_ffff) << 32 | UInt64(UInt32(bitPattern: descriptor)))
    }
  }

  /// The bit that all tags of watches have, and no others.
  private static let mark: UInt64 = 1 << 63

  private let poller: Poller
  private let table = SystemMutex(Table())

  init(_ poller: Poller) { self.poller = poller }

  /// Any thread.
  var isEmpty: Bool { table.withLock { $0.entries.isEmpty } }

  /// Starts a watch, and returns what ends it. Any thread.
  func add(
    _ descriptor: Int32, for readiness: MainLoop.Readiness, _ body: @escaping @Sendable () -> Void
  ) throws(MainLoopError) -> any Disposable {
    let watch = Watch(readiness == .readable ? .readable : .writable, body)
    let refusal = table.withLock { table -> Poller.Refusal? in
      let before = table.entries[descriptor]
      var entry = before ?? table.makeEntry(for: descriptor)
      entry.watches.append(watch)
      do throws(Poller.Refusal) {
        if before == nil {
          try poller.add(descriptor, for: entry.interest, tag: entry.tag)
        } else {
          try poller.change(descriptor, to: entry.interest, tag: entry.tag)
        }
      } catch {
        return error
      }
      table.entries[descriptor] = entry
      return nil
    }
    if let refusal { throw .descriptorRefused(refusal.code) }
    return Disposables.create { [self] in remove(watch, of: descriptor) }
  }

  private func remove(_ watch: Watch, of descriptor: Int32) {
    table.withLock { table in
      guard var entry = table.entries[descriptor],
        let index = entry.watches.firstIndex(where: { $0 === watch })
      else { return }
      entry.watches.remove(at: index)
      // Whatever the system says: if the descriptor was closed too early, its entry there is gone.
      if entry.watches.isEmpty {
        poller.remove(descriptor)
      } else {
        try? poller.change(descriptor, to: entry.interest, tag: entry.tag)
      }
      table.entries[descriptor] = entry.watches.isEmpty ? nil : entry
    }
  }

  /// Whether an event with this tag is for ``bodies(_:_:)``.
  static func isWatch(_ tag: UInt64) -> Bool { tag & mark != 0 }

  /// Returns what is to be called for a descriptor that is ready. Each checks its watch again when it is called, since
  /// one of them may end the next. Any thread.
  func bodies(_ tag: UInt64, _ ready: Poller.Interest) -> [@Sendable () -> Void] {
    let descriptor = Int32(truncatingIfNeeded: tag)
    let found = table.withLock { table -> [Watch] in
      guard let entry = table.entries[descriptor], entry.tag == tag else { return [] }
      return entry.watches
    }
    return found.filter { !$0.interest.isDisjoint(with: ready) }.map { watch in
      { [self] in
        let isWatching = table.withLock { table in
          table.entries[descriptor]?.watches.contains { $0 === watch } ?? false
        }
        if isWatching { watch.body() }
      }
    }
  }
}
