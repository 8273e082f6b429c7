// swift-tools-version: 6.2

import PackageDescription

// jemalloc, as services do; KV_MALLOC=glibc builds without it, to compare.
let usesJemalloc = Context.environment["KV_MALLOC"] != "glibc"

let package = Package(
  name: "KeyValueServer",
  dependencies: [.package(name: "swift-reactor-runtime", path: "../..")],
  targets: [
    .systemLibrary(name: "CMalloc", pkgConfig: "jemalloc", providers: [.apt(["libjemalloc-dev"])]),
    .executableTarget(
      name: "KeyValueServer",
      dependencies: [
        .product(name: "ReactorJournal", package: "swift-reactor-runtime"),
        .product(name: "ReactorRuntime", package: "swift-reactor-runtime"),
      ]
        + (usesJemalloc ? ["CMalloc"] : []),
      swiftSettings: [
        .treatAllWarnings(as: .error),
        // A debug build checks that no access to a property overlaps another one; the checks take a twelfth of a request.
        .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)),
      ] + (usesJemalloc ? [.define("JEMALLOC")] : [])),
  ],
  swiftLanguageModes: [.v6]
)
