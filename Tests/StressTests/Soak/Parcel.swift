import ReactorRuntime
import Synchronization

/// An action of the soak. When it is destroyed, exactly one of three things must have happened to it: it was reduced,
/// it was reported, or its sender received an error.
final class Parcel: Sendable {
  enum Order: Sendable {
    case reduce
    /// The reactor returns a stream that emits later, on another thread, if it was not disposed of by then.
    case echo
    case close(Closing)
  }

  let sender: Int
  /// The number of the parcel among those of its sender.
  let sequence: Int
  let order: Order
  /// How many more parcels follow from this one, sent from inside turns.
  let hops: Int
  private let tally: ParcelTally
  /// Relaxed: what was recorded happens before the end of this object.
  private let notes = Atomic(0)

  init(from sender: Int, _ sequence: Int, _ order: Order = .reduce, hops: Int = 0, by tally: ParcelTally) {
    self.sender = sender
    self.sequence = sequence
    self.order = order
    self.hops = hops
    self.tally = tally
    tally.made.add(1, ordering: .relaxed)
  }

  func noteReduced() {
    notes.add(1, ordering: .relaxed)
    tally.reduced.add(1, ordering: .relaxed)
  }

  /// Records that it will not be reduced, and that the failure handler or the sender received the reason.
  func noteRefused(_ reason: SendError) {
    notes.add(1, ordering: .relaxed)
    tally.note(reason)
  }

  deinit {
    switch notes.load(ordering: .relaxed) {
    case 0: tally.lost.add(1, ordering: .relaxed)
    case 1: break
    default: tally.twice.add(1, ordering: .relaxed)
    }
    tally.gone.add(1, ordering: .relaxed)
  }
}

/// Counts what happened to the parcels of one round. Relaxed: it is read when all threads are done.
final class ParcelTally: Sendable {
  let made = Atomic(0)
  let gone = Atomic(0)
  let reduced = Atomic(0)
  let lost = Atomic(0)
  let twice = Atomic(0)
  /// Reduced after a later one of the same sender.
  let reordered = Atomic(0)
  /// States that were torn, or older than one that was read before.
  let torn = Atomic(0)
  /// Two threads inside one reactor.
  let overlaps = Atomic(0)
  /// Reactors that were closed and did not end.
  let unended = Atomic(0)
  private let reasons = Guarded<[SendError: Int]>([:])

  func note(_ reason: SendError) { reasons.with { $0[reason, default: 0] += 1 } }

  var refused: [SendError: Int] { reasons.with { $0 } }

  var alive: Int {
    made.load(ordering: .sequentiallyConsistent) - gone.load(ordering: .sequentiallyConsistent)
  }

  /// What is wrong when everything is over, or nil.
  var complaint: String? {
    let total = reduced.load(ordering: .relaxed) + refused.values.reduce(0, +)
    var wrong: [String] = []
    if alive != 0 { wrong.append("\(alive) alive") }
    if total != made.load(ordering: .relaxed) { wrong.append("\(total) accounted for of \(self)") }
    for (name, count) in [
      ("lost", lost.load(ordering: .relaxed)), ("twice", twice.load(ordering: .relaxed)),
      ("reordered", reordered.load(ordering: .relaxed)), ("torn states", torn.load(ordering: .relaxed)),
      ("overlaps", overlaps.load(ordering: .relaxed)), ("not ended", unended.load(ordering: .relaxed)),
    ] where count != 0 {
      wrong.append("\(count) \(name)")
    }
    return wrong.isEmpty ? nil : wrong.joined(separator: ", ")
  }
}

extension ParcelTally: CustomStringConvertible {
  var description: String {
    let reasons = refused.sorted { "\($0.key)" < "\($1.key)" }.map { "\($0.value) × \($0.key)" }
    return "\(made.load(ordering: .relaxed)) sent, \(reduced.load(ordering: .relaxed)) reduced; "
      + reasons.joined(separator: ", ")
  }
}
