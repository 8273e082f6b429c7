import FuzzProperties

// In a build with libFuzzer, libFuzzer has the entry point.
#if !LIBFUZZER
  @main
  struct Fuzz {
    static func main() {
      print("This program needs libFuzzer: Scripts/fuzz builds it with that. The properties:")
      for property in FuzzProperty.all { print("  \(property)") }
    }
  }
#endif
