import Foundation

/// What a run says of itself while it measures: where it is, how long it still takes, and how the cores are placed.
package struct LiveView: Sendable {
  /// The planned seconds of each group in all rounds.
  private let planned: [Double]
  private let rounds: Int
  private var index = 0
  private var title = ""
  private var round = 1
  package var placement = CorePlacement.unknown

  package init(plannedSeconds: [Double], rounds: Int) {
    planned = plannedSeconds
    self.rounds = rounds
  }

  /// Begins a visit to the group with this index. There may be more rounds than planned.
  package mutating func enter(_ index: Int, _ title: String, round: Int) {
    (self.index, self.title, self.round) = (index, title, round)
  }

  private var secondsPlanned: Double { planned.reduce(0, +) }
  private var secondsDone: Double {
    guard round <= rounds else { return secondsPlanned }
    return (Double(round - 1) * secondsPlanned + planned.prefix(index).reduce(0, +)) / Double(rounds)
  }

  /// The part of the plan that is done: 0 to 1.
  package var fraction: Double { secondsPlanned > 0 ? secondsDone / secondsPlanned : 0 }

  /// How long the visits from this one on will take, if they exceed their plan as those before them did.
  package func secondsLeft(elapsed: Double) -> Double {
    let left = secondsPlanned - secondsDone
    return secondsDone > 0 ? left * elapsed / secondsDone : left
  }

  /// One line for a terminal of this width.
  package func line(_ variant: String, _ step: String, elapsed: Double, width: Int) -> String {
    let filled = Int((fraction * 10).rounded(.down))
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 10 - filled)
    let text = "\(bar) \(position) · \(left(elapsed)) · cores \(placement.rawValue) · \(variant) · \(step)"
    return text.count < width ? text : text.prefix(max(0, width - 2)) + "…"
  }

  /// One line for a log, when a visit to a group begins.
  package func logLine(elapsed: Double) -> String {
    "bench: \(position), \(left(elapsed)), cores \(placement.rawValue)"
  }

  private var position: String {
    let roundText = round <= rounds ? "round \(round)/\(rounds)" : "extra round \(round - rounds)"
    return "\(roundText) · \(index + 1)/\(planned.count) \(title)"
  }

  private func left(_ elapsed: Double) -> String {
    guard round <= rounds else { return "almost done" }
    let seconds = Int(secondsLeft(elapsed: elapsed).rounded(.up))
    return seconds < 100 ? "\(seconds) s left" : "\((seconds + 30) / 60) min left"
  }
}
