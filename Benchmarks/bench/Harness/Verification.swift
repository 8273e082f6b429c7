/// Compares what was reduced with what was sent.
enum Verification {
  static func check(_ totals: Totals, _ sent: Totals, _ inspector: Inspector?) throws {
    guard totals.count == sent.count else {
      throw SubjectFailure("reduced \(totals.count) items of \(sent.count)")
    }
    guard totals.sum == sent.sum else {
      throw SubjectFailure("the items' sum is \(totals.sum) instead of \(sent.sum)")
    }
    // An inspector also holds the subject's tallies alive until here.
    if let violations = inspector?.orderViolations, violations > 0 {
      throw SubjectFailure("\(violations) of \(sent.count) items were not in their producer's order")
    }
  }
}
