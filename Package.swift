// swift-tools-version: 6.2

import PackageDescription

/// Warnings are errors. Unlike unsafe flags, these settings do not keep others from depending on the package.
let strictC: [CSetting] = [.enableWarning("all"), .enableWarning("extra"), .treatAllWarnings(as: .error)]
let strictSwift: [SwiftSetting] = [.treatAllWarnings(as: .error)]

let rxSwift = Target.Dependency.product(
  name: "RxSwift", package: "RxSwift", condition: .when(traits: ["RxSwift"]))

let package = Package(
  name: "swift-reactor-runtime",
  products: [
    .library(name: "ReactorRuntime", targets: ["ReactorRuntime"]),
    .library(name: "ReactorTesting", targets: ["ReactorTesting"]),
    .library(name: "ReactorCore", targets: ["ReactorCore"]),
    .executable(name: "bench", targets: ["bench"]),
  ],
  traits: [
    .trait(name: "RxSwift", description: "Conversions between this package's streams and RxSwift's.")
  ],
  dependencies: [
    // Fetched only if the trait RxSwift is on.
    .package(url: "https://github.com/ReactiveX/RxSwift.git", from: "6.10.0")
  ],
  targets: [
    // The library: see ARCHITECTURE.md.
    .target(name: "CReactorCore", path: "CSources/CReactorCore", cSettings: strictC),
    .target(name: "ReactorCore", dependencies: ["CReactorCore"], swiftSettings: strictSwift),
    .target(name: "ReactorRuntime", dependencies: ["ReactorCore", rxSwift], swiftSettings: strictSwift),
    .target(
      name: "ReactorTesting", dependencies: ["ReactorCore", "ReactorRuntime"], swiftSettings: strictSwift),

    // System libraries, linked by the executables only; the library needs nothing but libc.
    .systemLibrary(
      name: "CURCU", path: "CSources/CURCU", pkgConfig: "liburcu-memb", providers: [.apt(["liburcu-dev"])]),
    .systemLibrary(
      name: "CJemalloc", path: "CSources/CJemalloc", pkgConfig: "jemalloc",
      providers: [.apt(["libjemalloc-dev"])]),

    // The benchmark.
    .target(
      name: "CBenchmarkLimits", dependencies: ["CURCU"], path: "CSources/CBenchmarkLimits",
      cSettings: strictC + [.define("_GNU_SOURCE")]),
    .target(
      name: "BenchmarkSupport", path: "Benchmarks/BenchmarkSupport", swiftSettings: strictSwift),
    .target(
      name: "AllocationCounting", dependencies: ["CBenchmarkLimits", "CJemalloc"],
      path: "Benchmarks/AllocationCounting", swiftSettings: strictSwift),
    .executableTarget(
      name: "bench",
      dependencies: [
        "AllocationCounting", "BenchmarkSupport", "CBenchmarkLimits", "ReactorCore", "ReactorRuntime",
      ],
      path: "Benchmarks/bench", swiftSettings: strictSwift),

    // The tests, and what several of them use.
    .target(
      name: "TestSupport", dependencies: ["ReactorCore", "ReactorRuntime"], path: "Tests/TestSupport",
      swiftSettings: strictSwift),
    .testTarget(
      name: "ReactorCoreTests", dependencies: ["ReactorCore", "TestSupport"], swiftSettings: strictSwift),
    // AllocationTests runs the executable, and does not link it: see Benchmarks/allocations.
    .executableTarget(
      name: "allocations",
      dependencies: ["AllocationCounting", "ReactorCore", "ReactorRuntime", "TestSupport"],
      path: "Benchmarks/allocations", swiftSettings: strictSwift),
    .testTarget(name: "AllocationTests", dependencies: ["TestSupport"], swiftSettings: strictSwift),
    .testTarget(
      name: "ReactorRuntimeTests",
      dependencies: ["ReactorCore", "ReactorRuntime", "ReactorTesting", "TestSupport"],
      swiftSettings: strictSwift),
    .testTarget(
      name: "ReactorTestingTests", dependencies: ["ReactorRuntime", "ReactorTesting", "TestSupport"],
      swiftSettings: strictSwift),
    // Empty unless the trait RxSwift is on: see Scripts/rxswift.
    .testTarget(
      name: "RxSwiftTests", dependencies: ["ReactorRuntime", "TestSupport", rxSwift],
      swiftSettings: strictSwift),
    .testTarget(
      name: "StressTests", dependencies: ["ReactorCore", "ReactorRuntime", "TestSupport"],
      exclude: ["README.md"], swiftSettings: strictSwift),
    .testTarget(name: "BenchmarkTests", dependencies: ["BenchmarkSupport"], swiftSettings: strictSwift),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11
)
