import Foundation

/// What a run says of itself while it measures: where it is, how long it still takes, and how the cores are placed.
package struct LiveView: Sendable {
  /// The planned seconds of each group.
  private let planned: [Double]
  private var index = 0
  private var title = ""
  package var placement = CorePlacement.unknown

  package init(plannedSeconds: [Double]) {
    planned = plannedSeconds
  }

  /// Begins the group with this index.
  package mutating func enter(_ index: Int, _ title: String) {
    (self.index, self.title) = (index, title)
  }

  private var secondsDone: Double { planned.prefix(index).reduce(0, +) }
  private var secondsPlanned: Double { planned.reduce(0, +) }

  /// The part of the plan that is done: 0 to 1.
  package var fraction: Double { secondsPlanned > 0 ? secondsDone / secondsPlanned : 0 }

  /// How long the groups from this one on will take, if they exceed their plan as those before them did.
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

  /// One line for a log, when a group begins.
  package func logLine(elapsed: Double) -> String {
    "bench: \(position), \(left(elapsed)), cores \(placement.rawValue)"
  }

  private var position: String { "\(index + 1)/\(planned.count) \(title)" }

  private func left(_ elapsed: Double) -> String {
    let seconds = Int(secondsLeft(elapsed: elapsed).rounded(.up))
    return seconds < 100 ? "\(seconds) s left" : "\((seconds + 30) / 60) min left"
  }
}
