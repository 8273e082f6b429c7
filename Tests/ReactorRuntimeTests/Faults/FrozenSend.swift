import TestSupport
import Testing

@testable import ReactorCore
@testable import ReactorRuntime

/// How far a send has come.
enum SendPoint: Int, CaseIterable, Sendable {
  case claimed
  case written
  case published
  /// After the light fence, before the check whether there is an owner.
  case fenced
  case sent
}

/// A send that a test makes step by step, as `Runtime.deliver` does it in one go.
struct FrozenSend {
  private let reactor: Script
  // Keeps the ring alive.
  private let stage: GrowingRing<Work<Int>>.Stage
  private let cursor: UInt64
  private let action: Int
  private var point = SendPoint.claimed

  /// Claims a slot. Returns nil if there is no room.
  init?(_ action: Int, to reactor: Script) {
    let newest = reactor.runtime.mailbox.ring.newest.use { $0 }
    guard let stage = newest ?? reactor.runtime.mailbox.ring.makeFirst(),
      case .claimed(let cursor) = stage.ring.raw.tryClaim(1)
    else { return nil }
    (self.reactor, self.stage, self.cursor, self.action) = (reactor, stage, cursor, action)
  }

  /// Makes the steps up to `end`.
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

  /// Whether the owner can process this action and those that were sent later.
  var isVisible: Bool { point.rawValue >= SendPoint.published.rawValue }
}
