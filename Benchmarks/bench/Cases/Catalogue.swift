/// All that can be measured, in the order of the report.
enum Catalogue {
  static let cases: [Case] = rings + reactors + streams + publishing + readers + latencies + scale + limits
}
