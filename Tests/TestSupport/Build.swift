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

  /// Whether this build is based on the C core, not on its pure-Swift twin.
  ///
  /// Only the C core asks the system through the functions of `rr_platform.h`, which FaultyPlatform replaces, and only
  /// the C core has an asymmetric fence. A test of a fault of those is enabled by this.
  public static var isOnCCore: Bool { CurrentCore.self == CCore.self }

  /// Whether the process contains the runtime of a sanitizer.
  public static var isSanitized: Bool {
    dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil
  }
}
