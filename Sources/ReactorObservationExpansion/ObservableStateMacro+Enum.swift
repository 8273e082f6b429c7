#if canImport(SwiftSyntax)
  import SwiftSyntax
  import SwiftSyntaxBuilder
  import SwiftSyntaxMacros

  /// A case of an enum that is a state.
  private struct StateCase {
    let name: String
    /// The labels of its values; nil for a value without one.
    let labels: [String?]

    init(_ element: EnumCaseElementSyntax) {
      name = element.name.text
      labels =
        element.parameterClause?.parameters.map { parameter in
          parameter.firstName.flatMap { $0.tokenKind == .wildcard ? nil : $0.text }
        } ?? []
    }

    /// `.name`, with each value bound to a name that begins with `prefix`.
    func pattern(_ binding: String, _ prefix: String) -> String {
      labels.isEmpty
        ? ".\(name)"
        : ".\(name)(\(labels.indices.map { "\(binding)\(prefix)\($0)" }.joined(separator: ", ")))"
    }

    /// `.name`, with its values and their labels.
    var value: String {
      let values = labels.enumerated().map { ($1.map { "\($0): " } ?? "") + "new\($0)" }
      return ".\(name)(\(values.joined(separator: ", ")))"
    }
  }

  extension IfConfigDeclSyntax {
    /// Whether it contains cases of an enum, also in conditions of its own.
    fileprivate var containsCases: Bool {
      clauses.contains { clause in
        guard case .decls(let members)? = clause.elements else { return false }
        return members.contains { member in
          member.decl.is(EnumCaseDeclSyntax.self)
            || member.decl.as(IfConfigDeclSyntax.self)?.containsCases == true
        }
      }
    }
  }

  extension ObservableStateMacro {
    /// An enum stores nothing beside its case. So its identity is that of the state that the case contains, and a change of the
    /// case is announced by the property that contains the enum.
    static func members(
      of declaration: EnumDeclSyntax, _ access: String, in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
      for condition in declaration.memberBlock.members.compactMap({ $0.decl.as(IfConfigDeclSyntax.self) })
      where condition.containsCases { context.diagnose(.conditionalCases, at: condition) }
      let cases = declaration.memberBlock.members.compactMap { $0.decl.as(EnumCaseDeclSyntax.self) }
        .flatMap { $0.elements.map(StateCase.init) }
      let carrying = cases.filter { !$0.labels.isEmpty }
      let identities = cases.enumerated().map { index, one in
        switch one.labels.count {
        case 0: "case .\(one.name): ReactorObservation.ObservableStateID(_case: \(index))"
        case 1:
          "case .\(one.name)(let value): ReactorObservation._$id(of: value, case: \(index), of: \(cases.count))"
        // Of several values nothing is known, so no two are the same.
        default: "case .\(one.name): ReactorObservation.ObservableStateID()"
        }
      }
      let all = carrying.count == cases.count
      return [
        function("\(access)var _$id: ReactorObservation.ObservableStateID", switching("self", identities)),
        function(
          "\(access)mutating func _$adopt(from old: Self?)",
          switching("self", adoptions(carrying), isComplete: all)),
        function(
          "\(access)func _$announce(changesFrom old: Self) -> Bool",
          carrying.isEmpty
            ? ["false"]
            : ["var _$hasPulse = false"]
              + switching("(self, old)", announcements(carrying), isComplete: all && cases.count == 1)
              + ["return _$hasPulse"]),
      ]
    }

    private static func adoptions(_ cases: [StateCase]) -> [String] {
      cases.map { one in
        let some = one.labels.indices.map { "      ReactorObservation._$adopt(&new\($0), from: old\($0))" }
        let none = one.labels.indices.map { "      ReactorObservation._$adopt(&new\($0), from: nil)" }
        let lines =
          ["case \(one.pattern("var ", "new")):", "    if case \(one.pattern("let ", "old"))? = old {"] + some
          + ["    } else {"] + none + ["    }", "    self = \(one.value)"]
        return lines.joined(separator: "\n")
      }
    }

    private static func announcements(_ cases: [StateCase]) -> [String] {
      cases.map { one in
        let calls = one.labels.indices.map {
          "    ReactorObservation._$announce(new\($0), from: old\($0), noting: &_$hasPulse)"
        }
        return (["case (\(one.pattern("let ", "new")), \(one.pattern("let ", "old"))):"] + calls)
          .joined(separator: "\n")
      }
    }

    private static func switching(_ subject: String, _ cases: [String], isComplete: Bool = true) -> [String] {
      if cases.isEmpty, !isComplete { return [] }
      return ["switch \(subject) {"] + cases.map { "\($0)" } + (isComplete ? [] : ["default: break"]) + ["}"]
    }

    private static func function(_ head: String, _ lines: [String]) -> DeclSyntax {
      "\(raw: head) {\n\(raw: lines.map { "  \($0)\n" }.joined())}"
    }
  }
#endif
