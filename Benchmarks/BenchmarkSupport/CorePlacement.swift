/// Where the hypervisor has put the two cores, judged by the round trip of a cache line between them. Figures of
/// different classes differ by several times, so only figures of one class are compared. With more than two CPUs, it is the class of
/// the first two.
package enum CorePlacement: String, CaseIterable, Codable, Sendable {
  /// Two threads of one physical core.
  case sibling
  /// Two cores that share a cache.
  case near
  case far
  /// One core only, or the cores moved during the measurement.
  case unknown

  /// The class of a round trip in nanoseconds, which is nil if it could not be measured.
  package init(roundTrip: Double?) {
    switch roundTrip {
    case .some(..<60): self = .sibling
    case .some(..<250): self = .near
    case .some(250...): self = .far
    default: self = .unknown
    }
  }

  /// The class of a repetition that ran between two measurements of the round trip.
  package init(before: Double?, after: Double?) {
    let (first, last) = (CorePlacement(roundTrip: before), CorePlacement(roundTrip: after))
    self = first == last ? first : .unknown
  }

  /// The known class that most of `repetitions` have; the nearest one if several have as many; `unknown` if none is
  /// known.
  ///
  /// - Parameter asked: Prevails if any repetition has it.
  package static func prevailing(
    in repetitions: some Sequence<CorePlacement>, asked: CorePlacement? = nil
  ) -> CorePlacement {
    var votes: [CorePlacement: Int] = [:]
    for placement in repetitions where placement != .unknown { votes[placement, default: 0] += 1 }
    if let asked, votes[asked] != nil { return asked }
    guard let most = votes.values.max() else { return .unknown }
    return allCases.first { votes[$0] == most } ?? .unknown
  }
}

/// The repetitions that may be compared, of some that were measured in several placements.
package struct Kept<Value> {
  package let values: [Value]
  package let placement: CorePlacement

  /// Keeps what was measured in `prevailing`. If nothing was, keeps everything, as `unknown`.
  package init(_ measured: [(value: Value, placement: CorePlacement)], prevailing: CorePlacement) {
    let same = measured.filter { $0.placement == prevailing }.map(\.value)
    values = same.isEmpty ? measured.map(\.value) : same
    placement = same.isEmpty ? .unknown : prevailing
  }
}
