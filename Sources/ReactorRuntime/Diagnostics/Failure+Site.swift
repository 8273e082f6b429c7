import Glibc
import ReactorCore

/// How often failures are printed.
extension Failure {
  /// What failures have in common that are counted together.
  struct Site: Hashable, Sendable {
    let reactor: String
    let problem: String
  }

  var site: Site { Site(reactor: reactor, problem: cause.inGeneral) }

  static let printing: RateLimit<Site> = {
    atexit { printing.tellAll() }
    return RateLimit(10) { site, count in
      StandardError.write(
        "Problem: as before, \(count) more times within a second: \(site.problem), \(site.reactor).\n")
    }
  }()
}

extension Failure.Cause {
  /// Without what differs from one time to the next.
  fileprivate var inGeneral: String {
    switch self {
    case .actionNotDelivered(let reason): "an action was not delivered, since \(reason)"
    case .mutationNotDelivered(let reason): "a mutation was not delivered, since \(reason)"
    case .stateNotDelivered(let reason): "a state was not delivered, since \(reason)"
    case .mutate: "a stream that mutate answered has failed"
    case .transform(let transform, _): "transform(\(transform):) has ended"
    }
  }
}
