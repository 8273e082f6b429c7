/// What producers and an owner did, with the times of a clock that all of them share.
///
/// The times are those of ``LogicalClock``: each is used once, and if one operation ended before another
/// began then its end is the smaller number.
struct History: Sendable {
  /// One send of an element, or of a batch.
  struct Send: Sendable, Equatable {
    /// What the sender knew when the send was over.
    enum Outcome: Sendable {
      case accepted
      /// Refused for lack of room: at once, by a policy that drops the newest, or after a wait.
      case full, dropped, timedOut
      case closed
      /// The sender gave up. Says nothing of the other side.
      case cancelled
    }

    var producer: Int
    /// Of its first element. A producer numbers its elements upwards from 0; one that was refused may use the
    /// number again.
    var sequence: Int
    var count = 1
    var begin: UInt64
    var end: UInt64
    var outcome = Outcome.accepted
    /// Sent by the owner to itself, in a turn: it takes no room, and is accepted as long as there are turns.
    var isReentrant = false
    /// Whose send it was, if that was written down.
    var thread: UInt = 0
  }

  /// What tells an element from all others.
  struct ElementID: Hashable, Sendable {
    var producer: Int
    var sequence: Int
  }

  /// The owner got an element. Its slot cannot have been given back before that.
  struct Reception: Sendable, Equatable {
    var element: ElementID
    var time: UInt64
    var thread: UInt = 0
  }

  /// An element that was accepted, and that somebody was told of in the end: it will not be received.
  struct Report: Sendable, Equatable {
    enum Reason: Sendable {
      /// A newer one took its place.
      case dropped
      /// Thrown away, since all was.
      case closed
    }

    var element: ElementID
    var reason: Reason
    var time: UInt64
    /// When it gave way, at the earliest, if that is known: its reporter may have been held up before `time`.
    var earliest: UInt64?
  }

  /// At that time, at the latest, so many slots had been given back: those of elements that were received, or
  /// reported.
  struct Release: Sendable, Equatable {
    var time: UInt64
    var released: Int
  }

  /// One stint of ownership, or what its recorder sees of one: at least from `begin` to `end`.
  struct Turn: Sendable, Equatable {
    var begin: UInt64
    var end: UInt64
    var thread: UInt = 0
  }

  /// Somebody closed it.
  struct Close: Sendable, Equatable {
    var begin: UInt64
    var end: UInt64
    /// Whether what is inside is thrown away.
    var discards = false
  }

  /// In any order; but those of one producer in the order in which it did them.
  var sends: [Send] = []
  /// In the order of reception.
  var receptions: [Reception] = []
  /// In any order.
  var reports: [Report] = []
  /// In the order of time. Needed to judge whether `full` was truthful.
  var releases: [Release] = []
  /// In any order; nil if turns were not recorded.
  var turns: [Turn]?
  /// In any order.
  var closes: [Close] = []
  /// When somebody was told that it has ended.
  var end: UInt64?
}

extension History {
  /// What each producer and the owner did with one another, as if each producer had had an owner of its own:
  /// lanes are rings of one producer each. Turns, closes and the end are not taken over.
  var byProducer: [History] {
    var parts: [Int: History] = [:]
    for send in sends { parts[send.producer, default: History()].sends.append(send) }
    for report in reports { parts[report.element.producer, default: History()].reports.append(report) }
    var next = 0
    var released: [Int: Int] = [:]
    for release in releases {
      var changed: Set<Int> = []
      while next < min(release.released, receptions.count) {
        let producer = receptions[next].element.producer
        released[producer, default: 0] += 1
        changed.insert(producer)
        next += 1
      }
      for producer in changed {
        parts[producer, default: History()].releases.append(
          Release(time: release.time, released: released[producer, default: 0]))
      }
    }
    for reception in receptions {
      parts[reception.element.producer, default: History()].receptions.append(reception)
    }
    return parts.sorted { $0.key < $1.key }.map(\.value)
  }
}

extension History.Send {
  var elements: [History.ElementID] {
    (sequence..<sequence + count).map { History.ElementID(producer: producer, sequence: $0) }
  }

  /// Whether it says that there was no room.
  var foundNoRoom: Bool { outcome == .full || outcome == .dropped || outcome == .timedOut }
}

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
