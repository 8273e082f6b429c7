/// Says what is wrong with a ``History``.
///
/// A pure function of the history, so it is tested with hand-made ones. Each check reports only what the
/// history proves: what might be explained by an order of events between two recorded times is no violation.
struct HistoryChecker {
  enum Violation: Equatable, Sendable {
    /// Accepted, but never received.
    case lost(History.ElementID)
    /// Received more than once.
    case duplicated(History.ElementID)
    /// Received, but never accepted.
    case unknown(History.ElementID)
    /// Received before its send began.
    case receivedTooEarly(History.ElementID)
    /// Received after a later element of the same producer.
    case reordered(History.ElementID, after: History.ElementID)
    /// Received after an element whose send began only when this one's had returned.
    case overtaken(History.ElementID, by: History.ElementID)
    /// A batch was not received in one piece; the element is the first that is out of place.
    case tornBatch(History.ElementID)
    /// Refused although there was room all the time.
    case untruthfulFull(History.Send)
    /// So many elements more than the capacity were inside for certain.
    case overrun(by: Int, atEndOf: History.Send)
  }

  /// Of the ring; nil if the history is of something else, whose `full` and overruns cannot be judged.
  var capacity: Int?
  /// Whether a send that returned before another began must be received first, whoever sent.
  var keepsRealTimeOrder = true

  func violations(in history: History) -> [Violation] {
    let accepted = history.sends.filter { $0.outcome == .accepted }
    var found = wrongElements(accepted, history.receptions)
    found += wrongOrderOfProducers(history.receptions)
    found += tornBatches(accepted, history.receptions)
    if keepsRealTimeOrder { found += overtaken(accepted, history.receptions) }
    if let capacity {
      found += untruthfulFulls(history, accepted, capacity)
      found += overruns(accepted, history.receptions, capacity)
    }
    return found
  }

  // MARK: Nothing lost, nothing twice, nothing from nowhere

  private func wrongElements(
    _ accepted: [History.Send], _ receptions: [History.Reception]
  ) -> [Violation] {
    var found: [Violation] = []
    let sends = sendOfElement(accepted)
    var received: Set<History.ElementID> = []
    for reception in receptions {
      if !received.insert(reception.element).inserted { found.append(.duplicated(reception.element)) }
      if let send = sends[reception.element] {
        if reception.time < send.begin { found.append(.receivedTooEarly(reception.element)) }
      } else {
        found.append(.unknown(reception.element))
      }
    }
    for send in accepted {
      for element in send.elements where !received.contains(element) { found.append(.lost(element)) }
    }
    return found
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
    var found: [Violation] = []
    var place: [History.ElementID: Int] = [:]
    for (index, reception) in receptions.enumerated() { place[reception.element] = index }
    for send in accepted where send.count > 1 {
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
    _ accepted: [History.Send], _ receptions: [History.Reception]
  ) -> [Violation] {
    var found: [Violation] = []
    let sends = sendOfElement(accepted)
    var latest: (element: History.ElementID, begin: UInt64)?
    for element in receptions.lazy.map(\.element) {
      guard let send = sends[element] else { continue }
      if let latest, send.end < latest.begin { found.append(.overtaken(element, by: latest.element)) }
      if send.begin > latest?.begin ?? 0 { latest = (element, send.begin) }
    }
    return found
  }

  private func sendOfElement(_ sends: [History.Send]) -> [History.ElementID: History.Send] {
    var map: [History.ElementID: History.Send] = [:]
    for send in sends {
      for element in send.elements { map[element] = send }
    }
    return map
  }
}

extension History.Send {
  var elements: [History.ElementID] {
    (sequence..<sequence + count).map { History.ElementID(producer: producer, sequence: $0) }
  }
}
