#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// How much the stress tests do: `STRESS_MODE=short` (the default: about a minute in all) or `long`
/// (minutes).
enum StressMode: String {
  case short
  case long

  static let current: StressMode = {
    guard let name = environment("STRESS_MODE") else { return .short }
    guard let mode = StressMode(rawValue: name) else {
      fatalError("STRESS_MODE is \(name); it must be short or long")
    }
    return mode
  }()

  /// So many rounds in the short mode; 20 times as many in the long one.
  static func rounds(_ count: Int) -> Int { current == .short ? count : count * 20 }

  static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
