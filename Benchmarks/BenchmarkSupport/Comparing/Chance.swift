/// How many of very many figures are slower by chance.
enum Chance {
  /// The figures of a comparison that are slower fail together only if chance has so many of them less often than this.
  static let level = 0.01

  /// How likely it is that so many of several independent events happen, or more: each has a likelihood of its own.
  static func ofAtLeast(_ count: Int, of likelihoods: [Double]) -> Double {
    guard count > 0 else { return 1 }
    // How likely it is that exactly so many have happened, of those that were considered; as far as it is needed.
    var exactly = [Double](repeating: 0, count: count)
    exactly[0] = 1
    for likelihood in likelihoods {
      for happened in exactly.indices.reversed() {
        exactly[happened] *= 1 - likelihood
        if happened > 0 { exactly[happened] += exactly[happened - 1] * likelihood }
      }
    }
    return max(0, 1 - exactly.reduce(0, +))
  }

  /// What a reader must know of so many verdicts, of which each is that of an interval of 94 or 95 % by itself.
  static func remark(verdicts: Int) -> String {
    "Each verdict is by itself: where the truth is close to the bar, up to 3 of 100 are wrong by chance. Here are \(verdicts)."
  }

  /// The fewest of them that are more than chance explains.
  static func fewestBeyond(_ likelihoods: [Double]) -> Int {
    (0...likelihoods.count).first { ofAtLeast($0, of: likelihoods) < level } ?? likelihoods.count + 1
  }
}
