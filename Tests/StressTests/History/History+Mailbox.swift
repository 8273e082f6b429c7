/// The slots of a mailbox: nobody outside sees when they are given back.
extension History {
  /// Fills ``releases`` in, of a mailbox of that capacity: when the owner receives an element, the slots of all
  /// but a few of those before it have been given back.
  ///
  /// How few: a drain gives slots back each time that a quarter of the ring is free, or 64 slots (`Ring.drain`);
  /// and a mailbox that has just grown is told what became of the ring before it only when that one's drain is
  /// over (`GrowingRing.drainGrown`), which has one capacity at most. The rings of a mailbox have 8 slots, and
  /// then eight times as many as the one before.
  mutating func noteReleases(ofMailboxWith capacity: Int) {
    var earlier = 0
    var ring = min(8, capacity)
    while ring < capacity {
      earlier = ring
      ring = min(ring * 8, capacity)
    }
    let late = max(min(64, max(1, capacity / 4)) - 1, earlier)
    let own = Set(sends.lazy.filter(\.isReentrant).flatMap(\.elements))
    let reports = self.reports.map(\.time).sorted()
    var (received, reported) = (0, 0)
    releases = []
    for reception in receptions where !own.contains(reception.element) {
      while reported < reports.count, reports[reported] < reception.time { reported += 1 }
      releases.append(Release(time: reception.time, released: max(0, received + reported - late)))
      received += 1
    }
  }
}

extension HistoryChecker {
  /// Of a reactor's mailbox.
  ///
  /// On the caller more than the capacity can be inside. While a producer stands still between its claim and its
  /// publication, whoever sends becomes the owner, can process nothing, and leaves what it sends in the owner's
  /// queue; that takes no room, and has a limit of its own.
  init(ofMailboxWith capacity: Int, at place: Place) {
    self.init(
      capacity: capacity, mostInside: place == .caller ? .max : nil, hasOneThread: place.hasOneThread)
  }
}
