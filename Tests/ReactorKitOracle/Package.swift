// swift-tools-version: 6.0
import Foundation
import PackageDescription

// ReactorKit itself, with RxSwift, below the tests of ReactorKitCompatibility: see Scripts/reactorkit, which adds the sources of
// ReactorKit and the tests. ReactorKit's own package does not build on Linux, since one of its targets, and the package
// WeakMapTable, need Objective-C.

/// A folder of clones to fetch from.
let clones = ProcessInfo.processInfo.environment["INTEGRATION_MIRRORS"]
let rxSwift = Target.Dependency.product(name: "RxSwift", package: "RxSwift")

let package = Package(
  name: "ReactorKitOracle",
  dependencies: [
    .package(
      url: clones.map { "file://\($0)/RxSwift" } ?? "https://github.com/ReactiveX/RxSwift.git", from: "6.10.0"
    )
  ],
  targets: [
    .target(name: "ReactorKit", dependencies: [rxSwift, "WeakMapTable"]),
    .target(
      name: "ReactorKitCompatibility",
      dependencies: ["ReactorKit", rxSwift, .product(name: "RxRelay", package: "RxSwift")]),
    .target(name: "TestSupport"),
    .target(name: "WeakMapTable"),
    .testTarget(name: "RealReactorTests", dependencies: ["ReactorKitCompatibility", "TestSupport"]),
  ],
  swiftLanguageModes: [.v5]
)
