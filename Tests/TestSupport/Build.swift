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

  /// Whether the core is the pure-Swift twin: the trait `PureSwiftCore`.
  public static var isPureSwift: Bool { CurrentCore.name == "Swift" }

  /// Whether the runtime of a sanitizer is in the process.
  public static var isSanitized: Bool {
    dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil
  }
}
