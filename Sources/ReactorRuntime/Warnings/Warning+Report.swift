#if DEBUG
  import ReactorCore

  extension Warning {
    private struct Site: Hashable {
      let kind: Kind
      let reactor: String
    }

    /// Reports the first occurrence at once, and the number of further ones once a second.
    private static let limit = RateLimit<Site>(1) { site, count in
      let problem = "\(count) more times within a second: \(site.kind), \(site.reactor)."
      Hooks.warningHandler(Warning(site.kind, site.reactor, on: nil, count: count, problem))
    }

    /// Reports a warning, unless the same kind was reported for the same type of reactor within the last second;
    /// then it is counted. Any thread.
    package static func report(
      _ kind: Kind, _ reactor: Any.Type, _ problem: (_ reactor: String, ThreadLabel) -> String
    ) {
      let name = String(reflecting: reactor)
      guard limit.admit(Site(kind: kind, reactor: name)) else { return }
      let thread = ThreadLabel.current
      Hooks.warningHandler(Warning(kind, name, on: thread, problem(name, thread)))
    }
  }
#endif
