// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "NIOServer",
  dependencies: [
    .package(name: "swift-reactor-runtime", path: "../..", traits: ["NIO"]),
    .package(url: "https://github.com/apple/swift-nio.git", from: "2.80.0"),
  ],
  targets: [
    .executableTarget(
      name: "NIOServer",
      dependencies: [
        .product(name: "ReactorRuntime", package: "swift-reactor-runtime"),
        .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ], swiftSettings: [.treatAllWarnings(as: .error)])
  ],
  swiftLanguageModes: [.v6]
)
