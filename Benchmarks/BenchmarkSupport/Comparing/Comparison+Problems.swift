/// What must not get lost between two runs, and what no figure of both shows.
extension Comparison {
  /// What is wrong with the new run, or with the comparison as a whole: a sentence each.
  static func problems(
    _ old: JSONReport, _ new: JSONReport, _ figures: [Compared], onlyInOld: [CellResult],
    onlyInNew: [CellResult]
  ) -> [String] {
    var problems = new.failureTexts.map { "The new run: \($0)." }
    let wrong = onlyInNew.filter { $0.canFail && !$0.verified }
    if !wrong.isEmpty {
      problems.append("\(wrong.count) figures that only the new run has are wrong: \(names(of: wrong))")
    }
    // A run may measure fewer cases. But what it was asked for, or what a case lacks beside its other variants, is no longer there, was
    // left out, or has failed.
    let lost = onlyInOld.filter { gone in
      gone.canFail
        && (new.results.contains { $0.caseName == gone.caseName && $0.producers == gone.producers }
          || wasAsked(for: gone, old, new))
    }
    if !lost.isEmpty {
      problems.append(
        "\(lost.count) figures are missing from what the new run measured, or was asked for: \(names(of: lost))"
      )
    }
    let uncounted = figures.filter {
      $0.old.allocationsPerAction != nil && $0.new.allocationsPerAction == nil
    }
    if let first = uncounted.first?.new {
      problems.append(
        "The old run counted the allocations of \(uncounted.count) figures of which the new one did not, such as "
          + "\(first.caseName) \(first.variant).")
    }
    if !figures.contains(where: \.isJudged) { problems.append("Nothing could be compared.") }
    return problems
  }

  private static func names(of results: [CellResult]) -> String {
    let names = results.prefix(5).map { "\($0.caseName) \($0.variant) P=\($0.producers)" }
    return names.joined(separator: ", ") + (results.count > names.count ? ", …" : ".")
  }

  /// Whether the new run should have measured what only the old one has. False if its file does not say what it was asked for.
  private static func wasAsked(for gone: CellResult, _ old: JSONReport, _ new: JSONReport) -> Bool {
    guard let asked = new.run.asked, asked.selects(caseName: gone.caseName) else { return false }
    if asked.producers.contains(gone.producers) { return true }
    // A case with a number of its own has that one whatever was asked for.
    let numbers = Set(old.results.filter { $0.caseName == gone.caseName }.map(\.producers))
    return old.run.asked.map { Set($0.producers) != numbers && numbers == [gone.producers] } ?? false
  }
}
