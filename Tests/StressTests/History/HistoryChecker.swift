/// Finds what is wrong with a ``History``.
///
/// It is a pure function of the history, so it is tested with hand-made ones. Each check reports only what the
/// history proves: what some order of events between two recorded times could explain is no violation.
struct HistoryChecker {
  enum Violation: Equatable, Sendable {
    /// Accepted, but neither received nor reported.
    case lost(History.ElementID)
    /// Received more than once.
    case duplicated(History.ElementID)
    /// Reported more than once.
    case reportedTwice(History.ElementID)
    /// Received, and reported as well.
    case receivedAndReported(History.ElementID)
    /// Received or reported, but never accepted.
    case unknown(History.ElementID)
    /// Received, or reported, before its send began.
    case tooEarly(History.ElementID)
    /// Received after a later element of the same producer.
    case reordered(History.ElementID, after: History.ElementID)
    /// Received after an element whose send began only when this one's had returned.
    case overtaken(History.ElementID, by: History.ElementID)
    /// A batch was not received in one piece; the element is the first that is out of place.
    case tornBatch(History.ElementID)

    /// Refused although there was room all the time.
    case untruthfulFull(History.Send)
    /// Gave way although there was room all the time.
    case untruthfulDrop(History.ElementID)
    /// Gave way although too few newer elements had been sent.
    case droppedTooSoon(History.ElementID)
    /// By how many elements the contents certainly exceeded what fits.
    case overrun(by: Int, atEndOf: History.Send)
    /// Refused because of a limit that was not reached.
    case untruthfulLimit(History.Send)
    /// More wait than all limits together allow.
    case tooManyWaiting(History.Count)
    /// Fewer wait than that, or more.
    case miscounted(History.Count)

    /// Timed out before its deadline.
    case timedOutTooEarly(History.Send)
    /// Refused as cancelled though its task was not.
    case untruthfulCancelled(History.Send)

    /// A turn with more elements than its limit.
    case longTurn(Int, of: Int)
    /// There were two owners at once.
    case overlap(History.Turn, History.Turn)
    /// Another thread was in the middle of the turn when it ended than when it began.
    case changedThread(History.Turn)
    /// Received by a thread that was not the owner.
    case outsideOfTurns(History.ElementID)
    /// A turn on another thread than the only one that may have turns.
    case onAnotherThread(History.Turn)

    /// Refused as closed before a call to close began.
    case untruthfulClosed(History.Send)
    /// Accepted although a call to close had returned before the send began.
    case acceptedAfterClose(History.Send)
    /// Discarded although no call to close that discards had begun.
    case discardedTooEarly(History.ElementID)
    /// Received although a thread knew already that everything had ended.
    case receivedAfterEnd(History.ElementID)
  }

  /// The capacity of the ring or mailbox. Nil if the history is of something else, for which room cannot be checked.
  var capacity: Int?
  /// How many elements can be inside, if that is not the capacity.
  var mostInside: Int?
  /// How many can be inside that no turn has sent, if that is not the capacity.
  var mostOfOthers: Int?
  /// How many can wait in all, if counts of them were recorded.
  var mostWaiting: Int?
  /// How many that the owner sent to itself can wait, and how many that turns of other reactors sent.
  var reentrantCapacity: Int?
  /// Whether elements of other senders can count against the limit of the owner's own.
  var countsOthersAsOwn = false
  /// Whether an element whose send returned before another send began must be received first, also if another thread
  /// sent it.
  var keepsRealTimeOrder = true
  /// How many elements a turn may have, if their turns were recorded.
  var turnLimit: Int?
  /// Whether all turns are on one thread.
  var hasOneThread = false

  func violations(in history: History) -> [Violation] {
    let accepted = history.sends.filter { $0.outcome == .accepted }
    let sendOf = sendOfElement(accepted)
    var found = wrongElements(accepted, sendOf, history)
    found += wrongOrderOfProducers(history.receptions)
    found += tornBatches(accepted, history.receptions)
    if keepsRealTimeOrder { found += overtaken(sendOf, history.receptions) }
    if let capacity {
      // What the owner sends to itself takes no room.
      let fromOutside = accepted.filter { !$0.isReentrant }
      found += untruthfulFulls(history, fromOutside, capacity)
      found += wrongDrops(history, fromOutside, sendOf, capacity)
      found += overruns(history, fromOutside, mostInside ?? capacity)
      if let mostOfOthers {
        found += overruns(history, fromOutside.filter { !$0.isFromTurn }, mostOfOthers)
      }
    }
    if let mostWaiting { found += wrongCounts(history, accepted, mostWaiting) }
    if let turnLimit { found += longTurns(history.receptions, turnLimit) }
    if let reentrantCapacity { found += wrongLimits(history, accepted, reentrantCapacity) }
    if let turns = history.turns { found += wrongTurns(turns, history.receptions) }
    return found + wrongGivingUp(history.sends) + wrongClosing(history, accepted)
  }

  /// A message for the test with the number of violations and the first ones. Nil if there are none.
  func complaint(about history: History) -> String? {
    let found = violations(in: history)
    return found.isEmpty ? nil : "\(found.count) violations, \(found.prefix(3))"
  }

  // MARK: Nothing lost, nothing twice, nothing from nowhere

  private func wrongElements(
    _ accepted: [History.Send], _ sendOf: [History.ElementID: History.Send], _ history: History
  ) -> [Violation] {
    var found: [Violation] = []
    func look(at element: History.ElementID, _ time: UInt64) {
      guard let send = sendOf[element] else { return found.append(.unknown(element)) }
      if time < send.begin { found.append(.tooEarly(element)) }
    }
    var received: Set<History.ElementID> = []
    for reception in history.receptions {
      if !received.insert(reception.element).inserted { found.append(.duplicated(reception.element)) }
      look(at: reception.element, reception.time)
    }
    var reported: Set<History.ElementID> = []
    for report in history.reports {
      if !reported.insert(report.element).inserted { found.append(.reportedTwice(report.element)) }
      if received.contains(report.element) { found.append(.receivedAndReported(report.element)) }
      look(at: report.element, report.time)
    }
    for element in accepted.lazy.flatMap(\.elements)
    where !received.contains(element) && !reported.contains(element) {
      found.append(.lost(element))
    }
    return found
  }

  // MARK: Giving up

  private func wrongGivingUp(_ sends: [History.Send]) -> [Violation] {
    sends.compactMap { send in
      if send.outcome == .timedOut, send.isBeforeDeadline { return .timedOutTooEarly(send) }
      return send.outcome == .cancelled && send.isTaskCancelled == false ? .untruthfulCancelled(send) : nil
    }
  }

  // MARK: Order

  private func wrongOrderOfProducers(_ receptions: [History.Reception]) -> [Violation] {
    var found: [Violation] = []
    var newest: [Int: Int] = [:]
    for element in receptions.lazy.map(\.element) {
      if let last = newest[element.producer], last > element.sequence {
        let later = History.ElementID(producer: element.producer, sequence: last)
        found.append(.reordered(element, after: later))
      } else {
        newest[element.producer] = element.sequence
      }
    }
    return found
  }

  private func tornBatches(
    _ accepted: [History.Send], _ receptions: [History.Reception]
  ) -> [Violation] {
    let batches = accepted.filter { $0.count > 1 }
    if batches.isEmpty { return [] }
    var found: [Violation] = []
    var place: [History.ElementID: Int] = [:]
    for (index, reception) in receptions.enumerated() { place[reception.element] = index }
    for send in batches {
      guard let first = place[send.elements[0]] else { continue }
      let outOfPlace = send.elements.enumerated().first { offset, element in
        place[element] != nil && place[element] != first + offset
      }
      if let outOfPlace { found.append(.tornBatch(outOfPlace.element)) }
    }
    return found
  }

  /// Each element is compared with that received element before it whose send began last: if its own send
  /// had returned by then, it should have come first.
  private func overtaken(
    _ sendOf: [History.ElementID: History.Send], _ receptions: [History.Reception]
  ) -> [Violation] {
    var found: [Violation] = []
    var latest: (element: History.ElementID, begin: UInt64)?
    for element in receptions.lazy.map(\.element) {
      guard let send = sendOf[element] else { continue }
      if let latest, send.end < latest.begin { found.append(.overtaken(element, by: latest.element)) }
      if send.begin > latest?.begin ?? 0 { latest = (element, send.begin) }
    }
    return found
  }

  func sendOfElement(_ sends: [History.Send]) -> [History.ElementID: History.Send] {
    var map: [History.ElementID: History.Send] = [:]
    map.reserveCapacity(sends.count)
    for send in sends {
      for element in send.elements { map[element] = send }
    }
    return map
  }
}
