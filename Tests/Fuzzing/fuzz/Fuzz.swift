import FuzzProperties

// With libFuzzer, that has the entry point.
#if !LIBFUZZER
  @main
  struct Fuzz {
    static func main() {
      print("This needs libFuzzer: Scripts/fuzz builds it so. Its properties:")
      for property in FuzzProperty.all { print("  \(property)") }
    }
  }
#endif
