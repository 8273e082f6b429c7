/// Where the hypervisor put the two cores, as told by a cache line's round trip between them. Figures of
/// different classes differ several times over, so only one class is kept of what is compared.
package enum CorePlacement: String, CaseIterable, Codable, Sendable {
  /// Two threads of one physical core.
  case sibling
  /// Two cores that share a cache.
  case near
  case far
  /// One core only, or the cores moved during the measurement.
  case unknown

  /// The class of a round trip in nanoseconds; nil when there was none to measure.
  package init(roundTrip: Double?) {
    switch roundTrip {
    case .some(..<60): self = .sibling
    case .some(..<250): self = .near
    case .some(250...): self = .far
    default: self = .unknown
    }
  }

  /// The class of a repetition that stood between two probes.
  package init(before: Double?, after: Double?) {
    let (first, last) = (CorePlacement(roundTrip: before), CorePlacement(roundTrip: after))
    self = first == last ? first : .unknown
  }

  /// The known class that most of `repetitions` have; the nearer one of equals, `unknown` if there is none.
  package static func prevailing(in repetitions: some Sequence<CorePlacement>) -> CorePlacement {
    var votes: [CorePlacement: Int] = [:]
    for placement in repetitions where placement != .unknown { votes[placement, default: 0] += 1 }
    guard let most = votes.values.max() else { return .unknown }
    return allCases.first { votes[$0] == most } ?? .unknown
  }
}

/// Of what was measured in several placements, what may be compared.
package struct Kept<Value> {
  package let values: [Value]
  package let placement: CorePlacement

  /// Keeps what was measured in `prevailing`; everything, under `unknown`, if nothing was.
  package init(_ measured: [(value: Value, placement: CorePlacement)], prevailing: CorePlacement) {
    let same = measured.filter { $0.placement == prevailing }.map(\.value)
    values = same.isEmpty ? measured.map(\.value) : same
    placement = same.isEmpty ? .unknown : prevailing
  }
}
