#if DEBUG
  import Glibc
  import ReactorCore

  extension Warning {
    private struct Site: Hashable {
      let kind: Kind
      let reactor: String
    }

    /// One at once, then the count of the others, once a second.
    private static let limit: RateLimit<Site> = {
      atexit { limit.tellAll() }
      return RateLimit(1) { site, count in
        let problem = "as before, \(count) more times within a second: \(site.kind), \(site.reactor)."
        Hooks.warningHandler(Warning(site.kind, site.reactor, on: nil, count: count, problem))
      }
    }()

    /// Warns, unless the same was said just now. Any thread.
    static func report(
      _ kind: Kind, _ reactor: any AnyObject.Type, _ problem: (_ reactor: String, ThreadLabel) -> String
    ) {
      let name = String(reflecting: reactor)
      guard limit.admits(Site(kind: kind, reactor: name)) else { return }
      let thread = ThreadLabel.current
      Hooks.warningHandler(Warning(kind, name, on: thread, problem(name, thread)))
    }
  }
#endif
