import ReactorRuntime

/// What producers and an owner did, with times from a clock that all of them share.
///
/// The times are those of ``LogicalClock``. Each is used once, and if one operation ended before another began, the
/// first one's end is the smaller number.
struct History: Sendable {
  /// One send of an element, or of a batch.
  struct Send: Sendable, Equatable {
    /// The result of the send as the sender saw it.
    enum Outcome: Sendable {
      case accepted
      /// Refused for lack of room: at once, by a policy that drops the newest, or after a wait.
      case full, dropped, timedOut
      /// Refused because as many as may wait that turns have sent.
      case overLimit
      case closed
      /// The task of the sender was cancelled. That says nothing about the mailbox.
      case cancelled
    }

    var producer: Int
    /// The number of the first element. A producer numbers its elements upwards from 0, and may use the number of a
    /// refused one again.
    var sequence: Int
    var count = 1
    var begin: UInt64
    var end: UInt64
    var outcome = Outcome.accepted
    /// Whether the owner sent it to itself, in a turn. Such an element takes no room, and is accepted as long as
    /// there are turns, up to a limit.
    var isReentrant = false
    /// Whether it was sent from inside a turn of another reactor. Such an element may wait beside a full mailbox, up to
    /// a limit.
    var isFromTurn = false
    /// The sending thread, if it was recorded.
    var thread: UInt = 0
    /// Whether it returned before its deadline, by the sender's clock; false if it has none, or that was not recorded.
    var isBeforeDeadline = false
    /// Whether the task of the sender was cancelled when it returned; nil if that was not recorded.
    var isTaskCancelled: Bool?
  }

  /// Identifies an element.
  struct ElementID: Hashable, Sendable {
    var producer: Int
    var sequence: Int
  }

  /// The owner received an element. Its slot cannot have been released before that.
  struct Reception: Sendable, Equatable {
    var element: ElementID
    var time: UInt64
    var thread: UInt = 0
    /// How many turns had ended before, if that was recorded: elements of one turn have the same number.
    var turn: Int?
  }

  /// A thread was told how many elements wait.
  struct Count: Sendable, Equatable {
    var waiting: Int
    var begin: UInt64
    var end: UInt64
  }

  /// An element was accepted, and later reported as not delivered: it will not be received.
  struct Report: Sendable, Equatable {
    enum Reason: Sendable {
      /// A newer one took its place.
      case dropped
      /// It was discarded with everything else when the mailbox was closed.
      case closed
    }

    var element: ElementID
    var reason: Reason
    var time: UInt64
    /// The earliest time at which it can have given way, if that is known: the reporting thread may have been delayed
    /// before `time`.
    var earliest: UInt64?
  }

  /// By this time at the latest this number of slots had been released: those of elements that were received or
  /// reported.
  struct Release: Sendable, Equatable {
    var time: UInt64
    var released: Int
  }

  /// One turn of an owner, at least from `begin` to `end`; the recorder may not see all of it.
  struct Turn: Sendable, Equatable {
    var begin: UInt64
    var end: UInt64
    /// The thread on which it ended.
    var thread: UInt = 0
    /// The thread on which it began, if that was recorded.
    var firstThread: UInt?
  }

  /// A call that closed the subject.
  struct Close: Sendable, Equatable {
    var begin: UInt64
    var end: UInt64
    /// Whether what is inside is discarded.
    var discards = false
  }

  /// In any order, but those of one producer in the order in which it made them.
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
  /// In any order.
  var counts: [Count] = []
  /// The time by which a thread knew that it had ended.
  var end: UInt64?
}

extension History {
  /// Splits the history into one for each producer, as if each producer had its own owner: lanes are rings of one
  /// producer each. Turns, closes and the end are left out.
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

  /// Whether the outcome implies that there was no room.
  var foundNoRoom: Bool { outcome == .full || outcome == .dropped || outcome == .timedOut }
}

/// The slots of a mailbox. From outside it cannot be seen when they are released.
extension History {
  /// Fills in ``releases`` for a mailbox of this capacity: when the owner receives an element, the slots of all but a
  /// few of the earlier elements have been released.
  ///
  /// How few: a drain releases slots each time that a quarter of the ring is free, or 64 slots (`Ring.drain`). A ring
  /// that the mailbox has grown to learns what was received from the ring before it only when that one's drain is
  /// over (`GrowingRing.drainGrown`), which is at most one capacity later. The first ring of a mailbox has 8 slots,
  /// and each next one eight times as many.
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
  /// Checks the history of a reactor's mailbox.
  ///
  /// With `.dropOldest`, twice the capacity is kept beside the ring. What turns of other reactors send is kept there up to
  /// `reentrantCapacity`. On the caller, other senders' actions can be among those of the owner, which have the same
  /// limit: while a producer is stopped between its claim and its publication, another sender becomes the owner, can
  /// process nothing, and leaves its action in the owner's queue.
  ///
  /// - Parameters:
  ///   - turnsSend: Whether turns of other reactors send as well.
  ///   - turnLimit: That of the loop. On the caller it is always the same.
  init(
    ofMailboxWith capacity: Int, policy: OverflowPolicy = .block, reentrantCapacity: Int = 65_536,
    turnsSend: Bool = false, turnLimit: Int = 1024, at place: Place
  ) {
    let pushed = policy == .dropOldest ? 2 * capacity : 0
    let left = place == .caller ? reentrantCapacity : 0
    let fromTurns = turnsSend ? reentrantCapacity : 0
    // One that was beside the ring and is just being processed has left its place.
    func most(beside: Int) -> Int { capacity + (beside > 0 ? beside + 1 : 0) }
    self.init(
      capacity: capacity, mostInside: most(beside: pushed + left + fromTurns),
      mostOfOthers: most(beside: pushed + left),
      mostWaiting: capacity + pushed + fromTurns + reentrantCapacity,
      reentrantCapacity: reentrantCapacity, countsOthersAsOwn: place == .caller,
      turnLimit: place == .caller ? 1024 : turnLimit, hasOneThread: place.hasOneThread)
  }
}
