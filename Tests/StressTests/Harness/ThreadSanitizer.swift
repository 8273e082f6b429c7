import Glibc

/// Slows everything down by an order of magnitude.
enum ThreadSanitizer {
  static let isOn = dlsym(nil, "__tsan_init") != nil
}
