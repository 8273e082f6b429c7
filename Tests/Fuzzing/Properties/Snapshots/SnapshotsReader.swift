import ReactorCore
import TestSupport

enum SnapshotsReaderErrand: Sendable {
  case open
  case look
  case peek
  case copy
  case send(SnapshotsAction)
  case leave
  case end
}

/// A thread that reads, and what it has found.
final class SnapshotsReader<State: SnapshotsState>: Sendable {
  private let hand: SnapshotsHand<SnapshotsReaderErrand>
  private let findings = Findings()

  private final class Findings: Sendable {
    let sights = SystemMutex<[Sight]>([])
    let copies = SystemMutex<[State]>([])
  }

  init(of subject: SnapshotsSubject<State>) {
    hand = SnapshotsHand { [findings] hand in
      while true {
        switch hand.next() {
        case .end: return hand.finish()
        case .open:
          subject.withCurrentState { state in
            findings.sights.withLock { $0.append(subject.sight(of: state)) }
            hand.finish()
            Self.stay(inside: state, of: subject, hand, findings)
          }
        case let errand: Self.perform(errand, subject, findings)
        }
        hand.finish()
      }
    }
  }

  /// Does errands inside of a read, until it is to leave.
  private static func stay(
    inside state: borrowing State, of subject: SnapshotsSubject<State>,
    _ hand: SnapshotsHand<SnapshotsReaderErrand>, _ findings: Findings
  ) {
    while true {
      let errand = hand.next()
      switch errand {
      case .peek, .leave:
        let sight = subject.sight(of: state, isRepeated: true)
        findings.sights.withLock { $0.append(sight) }
        // The end of the read is a part of leaving.
        if case .leave = errand { return }
      default: perform(errand, subject, findings)
      }
      hand.finish()
    }
  }

  private static func perform(
    _ errand: SnapshotsReaderErrand, _ subject: SnapshotsSubject<State>, _ findings: Findings
  ) {
    switch errand {
    case .look:
      let sight = subject.sight()
      findings.sights.withLock { $0.append(sight) }
    case .copy:
      let copy = subject.currentState
      findings.copies.withLock { $0.append(copy) }
    case .send(let action): subject.send(action)
    case .open, .peek, .leave, .end: fatalError("the property gives no such errand here")
    }
  }

  // MARK: The property's thread

  func perform(_ errand: SnapshotsReaderErrand) {
    hand.give(errand)
    hand.wait()
  }

  func takeSights() -> [Sight] {
    findings.sights.withLock { sights in
      defer { sights = [] }
      return sights
    }
  }

  func takeCopies() -> [State] {
    findings.copies.withLock { copies in
      defer { copies = [] }
      return copies
    }
  }

  /// The reader must not be inside of a read.
  func end() {
    perform(.end)
    hand.join()
  }
}
