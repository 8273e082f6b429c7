// swift-tools-version: 6.2

import PackageDescription

let strictC: [CSetting] = [
  .enableWarning("all"), .enableWarning("extra"), .treatAllWarnings(as: .error),
]
let strictSwift: [SwiftSetting] = [.treatAllWarnings(as: .error)]

let package = Package(
  name: "swift-reactor-runtime",
  products: [
    .library(name: "ReactorRuntime", targets: ["ReactorRuntime"]),
    .library(name: "ReactorCore", targets: ["ReactorCore"]),
  ],
  targets: [
    .target(name: "CReactorCore", path: "CSources/CReactorCore", cSettings: strictC),
    .target(name: "ReactorCore", dependencies: ["CReactorCore"], swiftSettings: strictSwift),
    .target(name: "ReactorRuntime", dependencies: ["ReactorCore"], swiftSettings: strictSwift),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11
)
