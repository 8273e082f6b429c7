// Runs until the compiler closes the standard input. What the module `SwiftCompilerPlugin` contains, which the toolchain lacks, is
// not more than this.
#if canImport(SwiftSyntax)
  import ReactorObservationExpansion
  @_spi(PluginMessage) import SwiftCompilerPluginMessageHandling
  import SwiftSyntaxMacros

  struct Plugin: PluginProvider {
    private let macros: [String: any Macro.Type] = [
      "ObservableStateMacro": ObservableStateMacro.self,
      "ObservableStateTrackedMacro": ObservableStateTrackedMacro.self,
      "ObservableStateIgnoredMacro": ObservableStateIgnoredMacro.self,
    ]

    func resolveMacro(moduleName: String, typeName: String) throws -> any Macro.Type {
      guard let macro = macros[typeName] else {
        throw UnknownMacro(description: "\(moduleName) has no macro of type \(typeName)")
      }
      return macro
    }
  }

  /// The module that declares the macros and this plugin are of different versions.
  struct UnknownMacro: Error, CustomStringConvertible {
    let description: String
  }

  let connection = try StandardIOMessageConnection()
  try CompilerPluginMessageListener(connection: connection, provider: Plugin()).main()
#else
  // ReactorObservation declares the macros as unavailable then, so nothing runs this.
  fatalError("ReactorObservationMacros was built without SwiftSyntax: see Package.swift")
#endif
