#if canImport(SwiftSyntax)
  import SwiftSyntax
  import SwiftSyntaxBuilder
  import SwiftSyntaxMacros

  /// `@ObservableState`: marks the properties of a struct as tracked, and adds what finds and announces their changes.
  public enum ObservableStateMacro {}

  extension ObservableStateMacro: MemberAttributeMacro {
    public static func expansion(
      of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
      providingAttributesFor member: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) throws -> [AttributeSyntax] {
      // The compiler asks for each declaration; problems are reported once, by the role that adds the members.
      guard declaration.is(StructDeclSyntax.self), let property = member.as(VariableDeclSyntax.self),
        case .tracked = property.observationKind, !property.hasAttribute(trackedName)
      else { return [] }
      return ["@\(raw: trackedName)"]
    }
  }

  extension ObservableStateMacro: MemberMacro {
    public static func expansion(
      of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
      conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      let access = visibility(of: declaration, in: context)
      if let declaration = declaration.as(StructDeclSyntax.self) {
        return members(of: declaration, access, in: context)
      }
      if let declaration = declaration.as(EnumDeclSyntax.self) {
        return members(of: declaration, access, in: context)
      }
      let kind = declaration.is(ClassDeclSyntax.self) ? "a class" : "neither"
      context.diagnose(.notAValue(kind), group: declaration, attribute: node)
      return []
    }

    private static func members(
      of declaration: StructDeclSyntax, _ access: String, in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
      let statements = collectStatements(of: declaration.memberBlock.members, in: context)
      return [
        "\(raw: access)var _$observationRegistrar = ReactorObservation.ObservableStateRegistrar()",
        """
        \(raw: access)var _$id: ReactorObservation.ObservableStateID {
          _$observationRegistrar._$id
        }
        """,
        """
        \(raw: access)static var _$announcesProperties: Bool {
          true
        }
        """,
        function(
          "\(access)static func _$isStored(_ keyPath: PartialKeyPath<Self>) -> Bool", statements.storedBody),
        function(
          "\(access)func _$access<_$Member>(_ keyPath: KeyPath<Self, _$Member>)", statements.accessBody),
        function(
          "\(access)mutating func _$adopt(from old: Self?)",
          ["_$observationRegistrar._$adopt(from: old?._$observationRegistrar)"] + statements.adoptions),
        function("\(access)func _$announce(changesFrom old: Self) -> Bool", statements.announcementBody),
      ]
    }

    /// Returns the statements for the properties. A condition that is compiled around properties is repeated around their
    /// statements.
    private static func collectStatements(
      of members: MemberBlockItemListSyntax, in context: some MacroExpansionContext
    ) -> PropertyStatements {
      var statements = PropertyStatements()
      for member in members {
        if let condition = member.decl.as(IfConfigDeclSyntax.self) {
          for clause in condition.clauses {
            let head = [clause.poundKeyword.text, clause.condition?.trimmedDescription].compactMap(\.self)
              .joined(separator: " ")
            statements.append(directive: head)
            if case .decls(let members)? = clause.elements {
              statements.append(collectStatements(of: members, in: context))
            }
          }
          statements.append(directive: "#endif")
        } else if let property = member.decl.as(VariableDeclSyntax.self) {
          if case .refused(let diagnostic) = property.observationKind {
            context.diagnose(diagnostic, property: property)
          }
          statements.append(PropertyStatements(for: property))
        }
      }
      return statements
    }

    /// Returns the modifier for what a public protocol requires, which must be as visible as the type itself.
    private static func visibility(
      of declaration: some DeclGroupSyntax, in context: some MacroExpansionContext
    ) -> String {
      // In inlinable code, what satisfies a public protocol must be as visible as the type, too.
      let inInlinable = declaration.attributes.names.contains("usableFromInline") ? "@usableFromInline " : ""
      // A type without a modifier is as visible as the extension says that it is in.
      let surrounding = context.lexicalContext.first?.as(ExtensionDeclSyntax.self)?.modifiers
      for modifiers in [declaration.modifiers, surrounding].compactMap(\.self) {
        for modifier in modifiers {
          switch modifier.name.tokenKind {
          case .keyword(.public): return "public "
          case .keyword(.package): return inInlinable + "package "
          case .keyword(.internal), .keyword(.fileprivate), .keyword(.private): return inInlinable
          default: break
          }
        }
      }
      return inInlinable
    }

    private static func function(_ head: String, _ statements: [String]) -> DeclSyntax {
      "\(raw: head) {\n\(raw: statements.map { "  \($0)\n" }.joined())}"
    }
  }

  extension ObservableStateMacro: ExtensionMacro {
    public static func expansion(
      of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
      providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
      in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
      guard declaration.is(StructDeclSyntax.self) || declaration.is(EnumDeclSyntax.self) else { return [] }
      // What the type declares itself is not in `protocols`.
      return try protocols.map { name in
        try ExtensionDeclSyntax(
          "extension \(type.trimmed): ReactorObservation.\(raw: name.trimmedDescription.withoutModule) {}")
      }
    }
  }

  extension String {
    fileprivate var withoutModule: String {
      let name = split(separator: ".").last.map(String.init) ?? self
      // An alias in the module, so that the user's file need not import the other one.
      return name == "Observable" ? "_$Observable" : name
    }
  }
#endif
