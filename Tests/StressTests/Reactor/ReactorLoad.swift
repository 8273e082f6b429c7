import ReactorCore
import ReactorRuntime
import TestSupport

/// Where the reactor of a scenario runs its turns.
enum Place: CaseIterable, Sendable, CustomStringConvertible {
  case caller, parkingLoop, spinningLoop, busyLoop
  /// One loop of several.
  case group
  /// A foreign loop.
  case hosted

  /// Of a loop with a thread of its own.
  private var waiting: WaitStrategy? {
    switch self {
    case .caller, .group, .hosted: nil
    case .parkingLoop: .parking
    case .spinningLoop: .spinning
    case .busyLoop: .busy
    }
  }

  var description: String {
    switch self {
    case .caller: "the caller"
    case .parkingLoop, .spinningLoop, .busyLoop: "a \(waiting ?? .parking) loop"
    case .group: "a group"
    case .hosted: "a hosted loop"
    }
  }

  /// A loop of its own, or nil for the caller. The others are made by ``makeSite(on:turnLimit:)``.
  func makeLoop(turnLimit: Int = 1024) -> Loop? {
    guard let waiting else {
      precondition(self == .caller, "\(self) is more than a loop")
      return nil
    }
    do {
      return try Loop(name: "stress-loop", waiting: waiting, turnLimit: turnLimit)
    } catch {
      fatalError("no loop: \(error)")
    }
  }
}

extension Placement {
  init(_ loop: Loop?) { self = loop.map { .loop($0) } ?? .caller }
}

/// The parameters of a scenario in which many threads send to one reactor.
struct ReactorLoad: Sendable, CustomStringConvertible {
  var place: Place
  var capacity: Int
  var producers: Int
  var turnLimit = 1024
  /// Of each producer.
  var actions: Int
  /// So many actions the reactor sends itself for each, one after the other.
  var reentries = 0
  var isRecorded: Bool

  var description: String {
    "\(place), capacity \(capacity), \(producers) producers, turn limit \(turnLimit), "
      + "\(reentries) re-entries" + (isRecorded ? ", recorded" : "")
  }
}

/// Counts what a runtime reports as not delivered.
final class FailureCounter: Sendable {
  private let counts = Guarded<[SendError: Int]>([:])

  func note(_ failure: Failure) {
    guard let reason = failure.sendError else { preconditionFailure("\(failure)") }
    counts.with { $0[reason, default: 0] += 1 }
  }

  func count(_ reason: SendError) -> Int { counts.with { $0[reason, default: 0] } }

  var total: Int { counts.with { $0.values.reduce(0, +) } }
}
