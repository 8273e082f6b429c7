import Glibc
import ReactorCore

/// How the tests were built.
public enum Build {
  public static var isOptimized: Bool {
    #if DEBUG
      false
    #else
      true
    #endif
  }

  /// Whether this build is based on the pure-Swift twin, by the trait `PureSwiftCore`.
  ///
  /// The twin does not ask the system through the functions of `rr_platform.h`, which FaultyPlatform replaces, and it has no
  /// asymmetric fence. Tests of faults of those are disabled by this.
  public static var isPureSwift: Bool { CurrentCore.name == "Swift" }

  /// Whether the process contains the runtime of a sanitizer.
  public static var isSanitized: Bool {
    dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil
  }
}
