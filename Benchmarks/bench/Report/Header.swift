import BenchmarkSupport

/// What stands above the tables: which machine, which code, and how the cores were placed meanwhile.
enum Header {
  private static func scale(_ run: RunDescription, _ plan: Plan) -> String {
    guard plan.outlines.contains(where: { $0.kind == .scale }) else { return "" }
    return "many are \(run.reactors), in the cases 'scale'\n"
  }

  static func text(_ run: RunDescription, _ plan: Plan, _ results: [CellResult]) -> String {
    let machine = run.machine
    let roundTrip =
      machine.roundTripNanoseconds.map { "median round trip \(FigureFormat.number($0)) ns" }
      ?? "no round trip probed"
    let placement = CorePlacement.prevailing(in: results.map(\.placement))
    let measured = plan.groups.flatMap(\.cells).reduce(0) { $0 + $1.samples.count }
    let discarded = plan.groups.reduce(0) { $0 + $1.discarded }
    return """
      \(machine.cpu), \(machine.cores) cores, \(machine.kernel) \(machine.architecture)
      \(run.compiler) · commit \(run.commit) · load before the run \(FigureFormat.number(machine.loadAverage))
      placement \(placement.rawValue) (\(roundTrip)); of \(measured) repetitions \(discarded) were discarded \
      for another placement
      figures are median (min–max), below them the ratio to the first variant and the share of the case's limit;
      allocs are per action; '?' marks a figure from another placement than its column's
      \(scale(run, plan))
      """
  }
}
