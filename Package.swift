// swift-tools-version: 6.2

import CompilerPluginSupport
import Foundation
import PackageDescription

/// Warnings are errors, unless `RR_WARNINGS` is set: SwiftPM leaves these settings out for a dependency that it fetches, but not for
/// one by path, which a warning of a newer compiler would break. Unlike unsafe flags, they do not keep others from depending on the
/// package.
let keepsWarnings = Context.environment["RR_WARNINGS"] != nil
let errorsC: [CSetting] = keepsWarnings ? [] : [.treatAllWarnings(as: .error)]
let strictC: [CSetting] = [.enableWarning("all"), .enableWarning("extra")] + errorsC
let strictSwift: [SwiftSetting] = keepsWarnings ? [] : [.treatAllWarnings(as: .error)]

/// What a trait needs; fetched only if the trait is on.
func product(_ name: String, of package: String, for trait: String) -> Target.Dependency {
  .product(name: name, package: package, condition: .when(traits: [trait]))
}

/// The folder of the SwiftSyntax that the toolchain itself uses; nil if it has none. Built from that, the macro needs no other
/// package. The path of the library that this manifest is linked to says where the toolchain is.
let hostModules: String? = {
  #if compiler(>=6.3)
    let library = "/pm/ManifestAPI/libPackageDescription.so"
    // Not `String(contentsOfFile:)`, which reads the first page of such a file only.
    let maps = FileHandle(forReadingAtPath: "/proc/self/maps").flatMap { try? $0.readToEnd() } ?? Data()
    for line in String(decoding: maps, as: UTF8.self).split(separator: "\n") where line.hasSuffix(library) {
      let folder = line.drop { $0 != "/" }.dropLast(library.count) + "/host"
      if FileManager.default.fileExists(atPath: folder + "/SwiftSyntax.swiftmodule") { return String(folder) }
    }
  #endif
  return nil
}()

/// What finds the modules of the toolchain. Unsafe flags: SwiftPM 6.3.1 builds a dependency with them, also one by version, and older
/// versions refuse that. So `hostModules` is nil before 6.3.
let hostSwift: [SwiftSetting] = hostModules.map { [.unsafeFlags(["-I", $0])] } ?? []
let hostLinker: [LinkerSetting] =
  hostModules.map { [.unsafeFlags(["-L", $0, "-Xlinker", "-rpath", "-Xlinker", $0])] } ?? []
/// Without any SwiftSyntax, the macros are declared as unavailable, and everything else is built.
let observationMacros: [SwiftSetting] = [
  hostModules == nil
    ? .define("ObservationMacros", .when(traits: ["SwiftSyntax"])) : .define("ObservationMacros")
]
/// The tests and the benchmark use the macros only if the toolchain can build them.
let observedTests: [SwiftSetting] = hostModules == nil ? [] : observationMacros

let swiftSyntax = Package.Dependency.package(
  url: "https://github.com/swiftlang/swift-syntax.git", "602.0.0"..<"604.0.0")
let rxSwift = product("RxSwift", of: "RxSwift", for: "RxSwift")
let integrations = [
  rxSwift, product("Logging", of: "swift-log", for: "Logging"),
  product("Metrics", of: "swift-metrics", for: "Metrics"),
  product("ServiceLifecycle", of: "swift-service-lifecycle", for: "ServiceLifecycle"),
  product("NIOCore", of: "swift-nio", for: "NIO"),
]

/// How Swift code is compiled for the controlled scheduler: see the end of this file.
let controlled: SwiftSetting = .unsafeFlags([
  "-module-alias", "Synchronization=ControlledSynchronization", "-Xcc", "-DRR_CONTROLLED",
])

/// Each way to run the main thread is a program of its own, which MainLoopTests runs.
let mainLoopPrograms: [Target] = ["main-run-loop", "main-dispatch", "main-async", "main-run"].map { name in
  .executableTarget(
    name: name, dependencies: ["MainLoopSupport", "ReactorRuntime", "TestSupport"],
    path: "Tests/MainLoop/\(name)", swiftSettings: strictSwift)
}

let package = Package(
  name: "swift-reactor-runtime",
  products: [
    .library(name: "ReactorRuntime", targets: ["ReactorRuntime"]),
    .library(name: "ReactorKitCompatibility", targets: ["ReactorKitCompatibility"]),
    .library(name: "ReactorSwiftCompatibility", targets: ["ReactorSwiftCompatibility"]),
    .library(name: "ReactorJournal", targets: ["ReactorJournal"]),
    .library(name: "ReactorObservation", targets: ["ReactorObservation"]),
    .library(name: "ReactorTesting", targets: ["ReactorTesting"]),
    .library(name: "ReactorJournalTesting", targets: ["ReactorJournalTesting"]),
    .library(name: "ReactorCore", targets: ["ReactorCore"]),
    .executable(name: "reactor-journal", targets: ["reactor-journal"]),
    // Not `bench`: the targets of all products are in the graph of each package that depends on this one, and no other target there
    // may have the name of one of them. Here SwiftPM makes a product of each executable target by itself.
  ],
  traits: [
    .trait(
      name: "PureSwiftCore",
      description: "Builds on the pure-Swift twin instead of the C core: for comparison, not for use."),
    .trait(name: "RxSwift", description: "Conversions between this package's streams and RxSwift's."),
    .trait(name: "Logging", description: "Failures and warnings as messages of swift-log."),
    .trait(name: "Metrics", description: "Counters as meters of swift-metrics."),
    .trait(
      name: "ServiceLifecycle",
      description: "Loops, groups and reactors as a service of swift-service-lifecycle."),
    .trait(name: "NIO", description: "Reactors on the event loops of swift-nio."),
    .trait(
      name: "SwiftSyntax",
      description:
        "Builds the macros of ReactorObservation from the package swift-syntax, not from the toolchain."),
    .trait(name: "Tracepoints", description: "Static tracepoints (USDT); needs systemtap-sdt-dev."),
  ],
  dependencies: [
    // Fetched only if the trait is on that needs it: see `product`.
    .package(url: "https://github.com/ReactiveX/RxSwift.git", from: "6.10.0"),
    .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-metrics.git", from: "2.5.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.6.0"),
    .package(url: "https://github.com/apple/swift-nio.git", from: "2.80.0"),
    swiftSyntax,
  ],
  targets: [
    // The library: see ARCHITECTURE.md.
    .target(
      name: "CReactorCore", path: "CSources/CReactorCore",
      cSettings: strictC + [.define("RR_TRACEPOINTS", .when(traits: ["Tracepoints"]))]),
    // What both cores provide, as protocols; and the pure-Swift twin of the C core.
    .target(name: "RawCore", swiftSettings: strictSwift),
    .target(name: "PureSwiftCore", dependencies: ["RawCore"], swiftSettings: strictSwift),
    .target(
      name: "ReactorCore",
      dependencies: [
        "CReactorCore", "RawCore",
        .target(name: "PureSwiftCore", condition: .when(traits: ["PureSwiftCore"])),
      ], swiftSettings: strictSwift),
    .target(
      name: "ReactorRuntime", dependencies: ["ReactorCore"] + integrations, swiftSettings: strictSwift),
    // What ReactorKit's users import in its place.
    .target(
      name: "ReactorKitCompatibility", dependencies: ["ReactorRuntime"], swiftSettings: strictSwift),
    // What the users of ReactorSwift/Reactor import in its place.
    .target(
      name: "ReactorSwiftCompatibility", dependencies: ["ReactorCore", "ReactorRuntime"],
      swiftSettings: strictSwift),
    // States that are observed property by property; the plugin of the compiler that expands its macros; and the expansion. The
    // tests use that and not the plugin: SwiftPM would build all tests as tools of the host, without the options of the build.
    .target(
      name: "ReactorObservation",
      dependencies: ["ReactorCore", "ReactorObservationMacros", "ReactorRuntime"],
      swiftSettings: strictSwift + observationMacros),
    .macro(
      name: "ReactorObservationMacros",
      dependencies: [
        "ReactorObservationExpansion",
        product("_SwiftCompilerPluginMessageHandling", of: "swift-syntax", for: "SwiftSyntax"),
      ],
      swiftSettings: strictSwift + hostSwift),
    .target(
      name: "ReactorObservationExpansion",
      dependencies: ["SwiftSyntax", "SwiftSyntaxBuilder", "SwiftSyntaxMacros", "SwiftDiagnostics"].map {
        product($0, of: "swift-syntax", for: "SwiftSyntax")
      },
      swiftSettings: strictSwift + hostSwift, linkerSettings: hostLinker),
    // Durable reactors. Nothing else links SQLite.
    .systemLibrary(
      name: "CReactorSQLite", path: "CSources/CReactorSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"])]),
    .target(
      name: "ReactorJournal", dependencies: ["CReactorSQLite", "ReactorCore", "ReactorRuntime"],
      // Readers of records refer to bytes that they do not own. Not an unsafe flag: see `strictC`.
      swiftSettings: strictSwift + [.enableExperimentalFeature("Lifetimes")]),
    .target(
      name: "ReactorJournalTesting", dependencies: ["ReactorCore", "ReactorJournal", "ReactorRuntime"],
      swiftSettings: strictSwift),
    .executableTarget(name: "reactor-journal", dependencies: ["ReactorJournal"], swiftSettings: strictSwift),
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
      name: "BenchmarkSupport", path: "Benchmarks/BenchmarkSupport",
      resources: ["page.html", "page.css", "page.js"].map { .embedInCode("Page/\($0)") },
      swiftSettings: strictSwift),
    .target(
      name: "AllocationCounting", dependencies: ["CBenchmarkLimits", "CJemalloc"],
      path: "Benchmarks/AllocationCounting", swiftSettings: strictSwift),
    .executableTarget(
      name: "bench",
      dependencies: [
        "AllocationCounting", "BenchmarkSupport", "CBenchmarkLimits", "CReactorSQLite", "PureSwiftCore",
        "RawCore", "ReactorCore", "ReactorJournal", "ReactorObservation", "ReactorRuntime",
        "ReactorSwiftCompatibility",
      ],
      path: "Benchmarks/bench", swiftSettings: strictSwift + observedTests),

    // The tests, and what several of them use.
    .target(
      name: "TestSupport", dependencies: ["ReactorCore", "ReactorRuntime"], path: "Tests/TestSupport",
      swiftSettings: strictSwift),
    // What a test asks for fails: see faulty_platform.h.
    .target(
      name: "FaultyPlatform", dependencies: ["CReactorCore"], path: "Tests/FaultyPlatform", cSettings: strictC
    ),
    .testTarget(
      name: "ReactorCoreTests",
      dependencies: ["CReactorCore", "FaultyPlatform", "PureSwiftCore", "ReactorCore", "TestSupport"],
      swiftSettings: strictSwift),
    // AllocationTests runs the executable, and does not link it: see Benchmarks/allocations.
    .executableTarget(
      name: "allocations",
      dependencies: [
        "AllocationCounting", "ReactorCore", "ReactorJournal", "ReactorJournalTesting", "ReactorRuntime",
        "TestSupport",
      ],
      path: "Benchmarks/allocations", swiftSettings: strictSwift),
    .testTarget(name: "AllocationTests", dependencies: ["TestSupport"], swiftSettings: strictSwift),
    .testTarget(
      name: "ReactorRuntimeTests",
      dependencies: ["FaultyPlatform", "ReactorCore", "ReactorRuntime", "ReactorTesting", "TestSupport"],
      swiftSettings: strictSwift),
    .testTarget(
      name: "ReactorKitCompatibilityTests", dependencies: ["ReactorKitCompatibility", "TestSupport"],
      exclude: ["README.md"], swiftSettings: strictSwift),
    // The same reactors as they were before the edits for Swift 6 mode. The compiler warns of what those edits are for.
    .testTarget(
      name: "ReactorKitSwift5Tests", dependencies: ["ReactorKitCompatibility", "TestSupport"],
      exclude: ["README.md"],
      // Nobody depends on a target of tests, so the unsafe flag keeps nobody from depending on the package.
      swiftSettings: [.swiftLanguageMode(.v5), .unsafeFlags(["-suppress-warnings"])]),
    // Code that was written for ReactorSwift, compiled as it was: in Swift 5 mode.
    .target(
      name: "ReactorSwiftUserCode", dependencies: ["ReactorSwiftCompatibility"],
      path: "Tests/ReactorSwiftUserCode", swiftSettings: strictSwift + [.swiftLanguageMode(.v5)]),
    .testTarget(
      name: "ReactorSwiftCompatibilityTests",
      dependencies: ["ReactorRuntime", "ReactorSwiftCompatibility", "ReactorSwiftUserCode", "TestSupport"],
      swiftSettings: strictSwift),
    .testTarget(
      name: "ReactorObservationTests",
      dependencies: [
        "ReactorCore", "ReactorJournal", "ReactorJournalTesting", "ReactorKitCompatibility",
        "ReactorObservation", "ReactorObservationExpansion", "ReactorRuntime", "ReactorTesting",
        "TestSupport",
      ],
      // The expansions are tested by the modules of the toolchain that the plugin uses. Without them there are no tests.
      swiftSettings: strictSwift + hostSwift + observedTests),
    // A disk in memory below SQLite, whose calls fail and whose power is cut.
    .target(
      name: "SimulatedDisk", dependencies: ["CReactorSQLite"], path: "Tests/SimulatedDisk", cSettings: strictC
    ),
    .testTarget(
      name: "ReactorJournalTests",
      dependencies: [
        "CReactorSQLite", "JournalCrashSupport", "ReactorCore", "ReactorJournal", "ReactorJournalTesting",
        "ReactorRuntime", "SimulatedDisk", "TestSupport",
      ], swiftSettings: strictSwift),
    // What KillTests kills.
    .target(
      name: "JournalCrashSupport", dependencies: ["ReactorCore", "ReactorJournal", "ReactorRuntime"],
      path: "Tests/JournalCrash/Support", swiftSettings: strictSwift),
    .executableTarget(
      name: "journal-child", dependencies: ["JournalCrashSupport", "ReactorJournal", "ReactorRuntime"],
      path: "Tests/JournalCrash/journal-child", swiftSettings: strictSwift),
    .target(
      name: "MainLoopSupport", dependencies: ["ReactorCore", "ReactorRuntime", "TestSupport"],
      path: "Tests/MainLoop/Support", swiftSettings: strictSwift),
    .testTarget(
      name: "ReactorTestingTests", dependencies: ["ReactorRuntime", "ReactorTesting", "TestSupport"],
      swiftSettings: strictSwift),
    // Empty unless their traits are on: see Scripts/integrations.
    .testTarget(
      name: "RxSwiftTests", dependencies: ["ReactorRuntime", "TestSupport", rxSwift],
      swiftSettings: strictSwift),
    .testTarget(
      name: "IntegrationTests",
      dependencies: [
        "ReactorCore", "ReactorRuntime", "TestSupport",
        product("MetricsTestKit", of: "swift-metrics", for: "Metrics"),
        product("ServiceLifecycleTestKit", of: "swift-service-lifecycle", for: "ServiceLifecycle"),
        product("NIOPosix", of: "swift-nio", for: "NIO"),
        product("NIOEmbedded", of: "swift-nio", for: "NIO"),
      ] + integrations, swiftSettings: strictSwift),
    .testTarget(
      name: "StressTests",
      dependencies: ["ReactorCore", "ReactorRuntime", "ReactorSwiftCompatibility", "TestSupport"],
      exclude: ["README.md"], swiftSettings: strictSwift),
    // Under libFuzzer by Scripts/fuzz; otherwise `fuzz` only says so.
    .target(
      name: "FuzzProperties",
      dependencies: ["ReactorCore", "ReactorRuntime", "ReactorTesting", "TestSupport"],
      path: "Tests/Fuzzing/Properties", swiftSettings: strictSwift),
    .executableTarget(
      name: "fuzz", dependencies: ["FuzzProperties", "TestSupport"], path: "Tests/Fuzzing/fuzz",
      swiftSettings: strictSwift),
    .testTarget(
      name: "FuzzingTests", dependencies: ["FuzzProperties", "ReactorCore", "ReactorRuntime", "TestSupport"],
      path: "Tests/Fuzzing/FuzzingTests", swiftSettings: strictSwift),
    .testTarget(name: "BenchmarkTests", dependencies: ["BenchmarkSupport"], swiftSettings: strictSwift),
  ] + mainLoopPrograms,
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11
)

// What is built in many ways, such as the stress tests, is built without the other tests: under ThreadSanitizer those
// take most of the time. And without the benchmark, which takes a minute. The variable has the names of those tests that are kept,
// separated by commas.
if let only = Context.environment["RR_ONLY_TESTS"]?.split(separator: ",") {
  package.targets.removeAll { $0.name == "bench" || $0.type == .test && !only.contains($0.name[...]) }
}

// The library under the controlled scheduler, and nothing else: the same sources, in which `import Synchronization` means
// a module whose atomics are points of the scheduler. See Tests/README.md. Not a trait: an alias of a module
// is an unsafe flag, for which SwiftPM before 6.3 refuses a dependency; see `hostSwift`.
if Context.environment["RR_CONTROLLED"] != nil {
  let library = [
    "CReactorCore", "CReactorSQLite", "RawCore", "ReactorCore", "ReactorJournal", "ReactorRuntime",
    "TestSupport",
  ]
  package.products = []
  package.targets.removeAll { !library.contains($0.name) }
  // None of these names it, not even for a trait, and then SwiftPM would fetch it.
  package.dependencies.removeAll { $0 === swiftSyntax }
  for target in package.targets {
    if target.name == "CReactorCore" {
      target.dependencies.append("ControlledScheduler")
      target.cSettings = (target.cSettings ?? []) + [.define("RR_CONTROLLED")]
    } else if target.type != .system {
      // The pure-Swift twin is left out: it places atomics in memory that it frees as bytes.
      if target.name == "ReactorCore" { target.dependencies = ["CReactorCore", "RawCore"] }
      target.dependencies.append("ControlledSynchronization")
      target.swiftSettings = (target.swiftSettings ?? []) + [controlled]
    }
  }
  package.targets += [
    .target(name: "ControlledScheduler", path: "Tests/Controlled/Scheduler", cSettings: strictC),
    .target(
      name: "ControlledPlatform", dependencies: ["CReactorCore", "ControlledScheduler"],
      path: "Tests/Controlled/Platform", cSettings: strictC),
    .target(
      name: "ControlledSynchronization", dependencies: ["ControlledScheduler"],
      path: "Tests/Controlled/Synchronization", swiftSettings: strictSwift),
    .testTarget(
      name: "ControlledTests",
      dependencies: [
        "ControlledPlatform", "ControlledScheduler", "ControlledSynchronization", "ReactorCore",
        "ReactorJournal", "ReactorRuntime", "TestSupport",
      ],
      path: "Tests/Controlled/ControlledTests", swiftSettings: strictSwift + [controlled],
      // What the scheduler replaces must be found before the definitions of the shared libraries.
      linkerSettings: [.unsafeFlags(["-Xlinker", "--export-dynamic"])]),
  ]
}

// Tests of a release build need an optimized library, not optimized tests: specialising the send sites of all tests takes
// minutes. Nor do they need the benchmark, which takes one, nor what it prints, which uses no core, nor more for a debugger than
// the lines. Unsafe flags are fine here, since no dependent package sets this variable.
if Context.environment["RR_UNOPTIMIZED_TESTS"] != nil {
  let benchmark = ["bench", "BenchmarkSupport", "BenchmarkTests"]
  package.targets.removeAll { benchmark.contains($0.name) }
  for target in package.targets where target.type == .test || target.path?.hasPrefix("Tests/") == true {
    target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-Onone", "-gline-tables-only"])]
  }
}
