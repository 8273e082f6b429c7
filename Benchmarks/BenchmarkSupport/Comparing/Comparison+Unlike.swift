/// Which cases have the same name in two reports, but are not the same work.
extension Comparison {
  /// Why a case of two runs is not the same work; nil if it is, as far as the files say it.
  static func unlike(
    _ old: JSONReport, _ new: JSONReport, _ caseName: String
  ) -> Verdict.Reason? {
    if let before = old.run.configuration, let after = new.run.configuration, before != after {
      return .configuration
    }
    if CaseName.selects(["scale.", "curve.reactors."], caseName), let before = old.separatesFirstActions,
      let after = new.separatesFirstActions, before != after
    {
      return .work
    }
    let beyondObjects = ["scale.idle.made", "scale.idle.used", "scale.keyed.used"]
    if beyondObjects.contains(caseName), old.leavesOutObjects != new.leavesOutObjects { return .work }
    // Of `state.` only a smoke run has other numbers, but nothing else in the file tells that it is one.
    let isOfMany = CaseName.selects(["scale.", "curve.reactors.", "state."], caseName)
    return isOfMany && old.run.reactors != new.run.reactors ? .members : nil
  }
}

extension JSONReport {
  /// Whether the first actions of many reactors are a figure of their own; nil if the report has none of such reactors. Reports in which
  /// they are not also made the reactors in another order.
  fileprivate var separatesFirstActions: Bool? {
    let ofMany = results.filter { CaseName.selects(["scale.busy.", "curve.reactors."], $0.caseName) }
    return ofMany.isEmpty ? nil : ofMany.contains { $0.caseName.hasSuffix(".first") }
  }

  /// Whether the memory of each of very many is only what it has beyond its object. Such reports do not have the object as a figure.
  fileprivate var leavesOutObjects: Bool {
    let ofIdle = results.filter { CaseName.selects("scale.idle.", $0.caseName) }
    return !ofIdle.isEmpty && !ofIdle.contains { $0.caseName.hasSuffix(".object") }
  }
}
