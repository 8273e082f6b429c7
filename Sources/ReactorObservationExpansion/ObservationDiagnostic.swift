#if canImport(SwiftSyntax)
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxMacros

  /// Why a declaration cannot be observed.
  enum ObservationDiagnostic: DiagnosticMessage {
    /// The macro is attached to a class, an actor or an extension.
    case notAValue(String)
    /// `var a = 0, b = 0`
    case severalProperties
    /// `var (a, b) = (0, 0)`
    case pattern
    /// A property wrapper, by its name.
    case wrapper(String)
    /// `willSet` or `didSet`
    case propertyObservers
    /// `lazy`, `weak` or `unowned`
    case modifier(String)
    /// Cases of an enum inside of `#if`: each `switch` would need the condition.
    case conditionalCases

    var message: String {
      switch self {
      case .notAValue(let kind):
        "'@ObservableState' needs a struct or an enum, since a state is a value; this is \(kind)"
      case .severalProperties: "'@ObservableState' needs a declaration of its own for each property"
      case .pattern: "'@ObservableState' cannot track properties that are declared by a pattern"
      case .wrapper(let name):
        "'@ObservableState' cannot track a property with '@\(name)'; mark it as '@ObservableStateIgnored'"
      case .propertyObservers:
        "'@ObservableState' does not track a property with 'willSet' or 'didSet'; mark it as '@ObservableStateIgnored'"
      case .modifier(let name):
        "'@ObservableState' cannot track \(name == "unowned" ? "an" : "a") '\(name)' property; mark it as '@ObservableStateIgnored'"
      case .conditionalCases: "'@ObservableState' cannot observe an enum with cases inside of '#if'"
      }
    }

    var diagnosticID: MessageID {
      let name =
        switch self {
        case .notAValue: "notAValue"
        case .severalProperties: "severalProperties"
        case .pattern: "pattern"
        case .wrapper: "wrapper"
        case .propertyObservers: "propertyObservers"
        case .modifier: "modifier"
        case .conditionalCases: "conditionalCases"
        }
      return MessageID(domain: "ReactorObservation", id: name)
    }

    /// A property with observers is left as it is, as ReactorKit does; without the other ones the code would not compile.
    var severity: DiagnosticSeverity {
      if case .propertyObservers = self { .warning } else { .error }
    }
  }

  /// What a fix-it does.
  struct ObservationFix: FixItMessage {
    let message: String

    var fixItID: MessageID { MessageID(domain: "ReactorObservation", id: message) }
  }

  extension MacroExpansionContext {
    /// Reports why the macro cannot be attached to this, with a repair if there is one.
    func diagnose(
      _ diagnostic: ObservationDiagnostic, group: some DeclGroupSyntax, attribute: AttributeSyntax
    ) {
      var fixes: [FixIt] = []
      if let declaration = group.as(ClassDeclSyntax.self) {
        let keyword = declaration.classKeyword
        fixes = [
          FixIt(
            message: ObservationFix(message: "Replace 'class' with 'struct'"),
            changes: [
              .replace(
                oldNode: Syntax(keyword), newNode: Syntax(keyword.with(\.tokenKind, .keyword(.struct))))
            ])
        ]
      }
      diagnose(Diagnostic(node: attribute, message: diagnostic, fixIts: fixes))
    }

    /// Reports why a part of the declaration cannot be observed. There is no repair.
    func diagnose(_ diagnostic: ObservationDiagnostic, at part: some SyntaxProtocol) {
      diagnose(Diagnostic(node: part, message: diagnostic))
    }

    /// Reports why a property cannot be tracked, with a repair if there is one.
    func diagnose(_ diagnostic: ObservationDiagnostic, property: VariableDeclSyntax) {
      let fix: FixIt? =
        switch diagnostic {
        case .severalProperties:
          FixIt(
            message: ObservationFix(message: "Declare each property on a line of its own"),
            changes: property.splitChanges)
        case .wrapper, .propertyObservers, .modifier:
          FixIt(
            message: ObservationFix(message: "Insert '@ObservableStateIgnored'"),
            changes: [.replace(oldNode: Syntax(property), newNode: Syntax(property.markedAsIgnored))])
        case .pattern, .notAValue, .conditionalCases: nil
        }
      diagnose(Diagnostic(node: property, message: diagnostic, fixIts: fix.map { [$0] } ?? []))
    }
  }

  extension VariableDeclSyntax {
    /// The declaration with `@ObservableStateIgnored` before everything else.
    fileprivate var markedAsIgnored: VariableDeclSyntax {
      let attribute = AttributeSyntax(
        leadingTrivia: leadingTrivia, attributeName: IdentifierTypeSyntax(name: .identifier(ignoredName)),
        trailingTrivia: .space)
      var rest = self
      rest.leadingTrivia = []
      rest.attributes = AttributeListSyntax([.attribute(attribute)] + Array(rest.attributes))
      return rest
    }

    /// `var a = 0, b = 0` becomes `var a = 0` and, on the next line, `var b = 0`.
    fileprivate var splitChanges: [FixIt.Change] {
      guard let member = parent?.as(MemberBlockItemSyntax.self),
        let list = member.parent?.as(MemberBlockItemListSyntax.self)
      else { return [] }
      let parts = bindings.enumerated().map { index, binding in
        var part = self
        // `var a, b: Int, c: String` gives the type of `b` to `a`, too.
        var binding = binding.with(\.trailingComma, nil)
        if binding.typeAnnotation == nil, binding.initializer == nil {
          binding.pattern.trailingTrivia = []
          binding.typeAnnotation = bindings.dropFirst(index).compactMap(\.typeAnnotation).first
        }
        part.bindings = PatternBindingListSyntax([binding])
        if index > 0, !part.leadingTrivia.contains(where: \.isNewline) {
          part.leadingTrivia = .newline + part.leadingTrivia
        }
        part.trailingTrivia = index == bindings.count - 1 ? trailingTrivia : []
        return MemberBlockItemSyntax(decl: part)
      }
      let items = list.flatMap { $0.id == member.id ? parts : [$0] }
      return [.replace(oldNode: Syntax(list), newNode: Syntax(MemberBlockItemListSyntax(items)))]
    }
  }
#endif
