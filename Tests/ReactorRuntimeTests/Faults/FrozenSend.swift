import TestSupport
import Testing

@testable import ReactorCore
@testable import ReactorRuntime

/// How far a sender has come.
enum SendPoint: Int, CaseIterable, Sendable {
  case claimed
  case written
  case published
  /// After the light fence, and before the look whether somebody is the owner.
  case fenced
  case sent
}

/// A send that is made in steps: those of `deliver`.
struct FrozenSend {
  private let reactor: Script
  // Keeps the ring.
  private let stage: GrowingRing<Work<Int>>.Stage
  private let cursor: UInt64
  private let action: Int
  private var point = SendPoint.claimed

  /// Claims a slot; nil if there is none.
  init?(_ action: Int, to reactor: Script) {
    let newest = reactor.runtime.mailbox.ring.newest.use { $0 }
    guard let stage = newest ?? reactor.runtime.mailbox.ring.makeFirst(),
      case .claimed(let cursor) = stage.ring.raw.tryClaim(1)
    else { return nil }
    (self.reactor, self.stage, self.cursor, self.action) = (reactor, stage, cursor, action)
  }

  /// Goes on up to there.
  mutating func go(to end: SendPoint) {
    while point.rawValue < end.rawValue {
      switch point {
      case .claimed: stage.ring.raw.slots.payload(cursor, as: Work<Int>.self).initialize(to: .action(action))
      case .written: stage.ring.raw.publish(cursor, count: 1)
      case .published: CurrentCore.lightFence()
      case .fenced: if !reactor.runtime.state.wasBusy { reactor.runtime.runOrSchedule(reactor) }
      case .sent: return
      }
      point = SendPoint(rawValue: point.rawValue + 1)!
    }
  }

  /// Whether others can go on with what comes later.
  var isVisible: Bool { point.rawValue >= SendPoint.published.rawValue }
}
