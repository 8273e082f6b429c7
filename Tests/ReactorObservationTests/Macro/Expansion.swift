#if ObservationMacros
  import ReactorObservationExpansion
  import SwiftDiagnostics
  import SwiftParser
  import SwiftSyntax
  import SwiftSyntaxMacroExpansion
  import SwiftSyntaxMacros

  /// What the compiler gets from the macros.
  struct Expansion {
    let text: String
    let diagnostics: [Diagnostic]

    /// Expands the macros of a source text.
    init(of source: String) {
      let file = Parser.parse(source: source)
      let context = BasicMacroExpansionContext(
        sourceFiles: [file: .init(moduleName: "App", fullFilePath: "State.swift")])
      let expanded = file.expand(
        macroSpecs: [
          "ObservableState": MacroSpec(
            type: ObservableStateMacro.self, conformances: ["ObservableState", "_$Observable"]),
          "ObservableStateTracked": MacroSpec(type: ObservableStateTrackedMacro.self),
          "ObservableStateIgnored": MacroSpec(type: ObservableStateIgnoredMacro.self),
        ],
        contextGenerator: {
          BasicMacroExpansionContext(sharingWith: context, lexicalContext: $0.allMacroLexicalContexts())
        },
        indentationWidth: .spaces(2)
      )
      // The line break after the attribute stays.
      text = expanded.trimmedDescription
      diagnostics = context.diagnostics
    }

    /// The texts that the fix-its put in place of others.
    var repairs: [String] {
      diagnostics.flatMap(\.fixIts).flatMap(\.changes).map { change in
        guard case .replace(_, let node) = change else { return "" }
        return node.description
      }
    }

    var messages: [String] { diagnostics.map(\.message) }

    /// Whether the property has accessors, and storage beside it.
    func tracks(_ storage: String) -> Bool {
      text.contains("@storageRestrictions(initializes: \(storage))")
        && text.contains("private var \(storage)")
    }
  }
#endif
