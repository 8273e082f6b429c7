import Foundation

/// Figures as a person reads them: with three significant digits.
package enum FigureFormat {
  package static func number(_ value: Double) -> String {
    switch abs(value) {
    case 99.95...: String(format: "%.0f", value)
    case 9.995..<99.95: String(format: "%.1f", value)
    case 0.0995..<9.995: String(format: "%.2f", value)
    default: value == 0 ? "0" : String(format: "%.3f", value)
    }
  }

  /// `median (min–max)`, all in the unit that suits the median. The unit is written only if it is not the column's.
  package static func figure(_ figure: Figure, _ unit: FigureUnit) -> String {
    let (scale, name) = scale(figure.median, unit)
    let (median, low, high) = (figure.median / scale, figure.min / scale, figure.max / scale)
    return "\(number(median))\(name) (\(number(low))–\(number(high)))"
  }

  private static func scale(_ value: Double, _ unit: FigureUnit) -> (Double, String) {
    switch (unit, value) {
    case (.nanoseconds, 1_000_000...): (1e6, "ms")
    case (.nanoseconds, 10_000...): (1e3, "µs")
    case (.bytes, 10_000...): (1e3, "kB")
    default: (1, "")
    }
  }

  /// - Parameter saysLittle: Whether one of the two figures does.
  package static func ratio(_ ratio: Double?, saysLittle: Bool = false) -> String {
    ratio.map { (saysLittle ? "~" : "") + number($0) + "×" } ?? "–"
  }

  /// - Parameter saysLittle: Whether one of the two figures does, if it is a share.
  package static func percent(_ fraction: Double?, saysLittle: Bool = false) -> String {
    fraction.map { (saysLittle ? "~" : "") + String(format: $0 < 0.0995 ? "%.1f%%" : "%.0f%%", $0 * 100) }
      ?? "–"
  }

  /// Fewer than one in a thousand actions is the noise of counting, not a cost of an action.
  package static func allocations(_ perAction: Double?) -> String {
    perAction.map { $0 < 0.001 ? "0" : number($0) } ?? "n/a"
  }
}
