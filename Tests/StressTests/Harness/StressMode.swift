#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// How much the stress tests do: `STRESS_MODE=short` (the default: about a minute in all), `long` (many minutes),
/// or `brief`, for builds that are very slow.
enum StressMode: String {
  case brief
  case short
  case long

  static let current: StressMode = {
    guard let name = environment("STRESS_MODE") else { return .short }
    guard let mode = StressMode(rawValue: name) else {
      fatalError("STRESS_MODE is \(name); it must be brief, short or long")
    }
    return mode
  }()

  /// So many rounds in the short mode; 20 times as many in the long one, and an eighth in the brief one, but at
  /// least one.
  static func rounds(_ count: Int) -> Int {
    switch current {
    case .brief: max(1, count / 8)
    case .short: count
    case .long: count * 20
    }
  }

  /// How much one thread does in one round, where there is one round at least whatever the mode: so many, and an
  /// eighth in the brief mode.
  static func perRound(_ count: Int) -> Int { current == .brief ? max(1, count / 8) : count }

  /// Of a scenario's time limit, or of the time that it takes: the brief mode is for what is slow.
  static func seconds(_ count: Int) -> Int { current == .long ? count * 20 : count }

  static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
