#if canImport(SwiftSyntax)
  import SwiftSyntax
  import SwiftSyntaxBuilder
  import SwiftSyntaxMacros

  /// `@ObservableStateTracked`: gives a property storage beside it, and accessors that note reads and changes.
  public enum ObservableStateTrackedMacro {
    private static func trackedProperty(
      _ declaration: some DeclSyntaxProtocol
    ) -> (VariableDeclSyntax, TrackedProperty)? {
      guard let variable = declaration.as(VariableDeclSyntax.self),
        case .tracked(let property) = variable.observationKind
      else { return nil }
      return (variable, property)
    }
  }

  extension ObservableStateTrackedMacro: AccessorMacro {
    public static func expansion(
      of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
      guard let (_, property) = trackedProperty(declaration) else { return [] }
      let (name, storage) = (property.name, property.storage)
      return [
        """
        @storageRestrictions(initializes: \(raw: storage))
        init(initialValue) {
          \(raw: storage) = ReactorObservation._$ObservedValue(initialValue)
        }
        """,
        """
        get {
          _$observationRegistrar.access(self, keyPath: \\Self.\(raw: name))
          return \(raw: storage).value
        }
        """,
        """
        set {
          guard !ReactorObservation._$isSame(\(raw: storage).value, newValue) else {
            \(raw: storage).value = newValue
            return
          }
          let _$isRead = _$observationRegistrar._$willChange(&\(raw: storage).version)
          if _$isRead {
            _$observationRegistrar.willSet(self, keyPath: \\Self.\(raw: name))
          }
          \(raw: storage).value = newValue
          if _$isRead {
            _$observationRegistrar.didSet(self, keyPath: \\Self.\(raw: name))
          }
        }
        """,
        """
        _modify {
          let _$isRead = _$observationRegistrar._$willChange(&\(raw: storage).version)
          if _$isRead {
            _$observationRegistrar.willSet(self, keyPath: \\Self.\(raw: name))
          }
          defer {
            if _$isRead {
              _$observationRegistrar.didSet(self, keyPath: \\Self.\(raw: name))
            }
          }
          yield &\(raw: storage).value
        }
        """,
      ]
    }
  }

  extension ObservableStateTrackedMacro: PeerMacro {
    public static func expansion(
      of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      guard let (variable, property) = trackedProperty(declaration), let binding = variable.bindings.first
      else {
        return []
      }
      // `T!` is `T?` to its storage.
      let type = binding.typeAnnotation.map { annotation in
        annotation.type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self).map { "\($0.wrappedType.trimmed)?" }
          ?? annotation.type.trimmedDescription
      }
      let annotation = type.map { ": ReactorObservation._$ObservedValue<\($0)>" } ?? ""
      var value = ""
      if let initializer = binding.initializer?.value.trimmed {
        // Those are expressions where they are the whole initial value, or that of a closure, and not as an argument.
        let isStatement = initializer.is(IfExprSyntax.self) || initializer.is(SwitchExprSyntax.self)
        let head = type.map { "{ () -> \($0) in" } ?? "{"
        let argument = isStatement ? "\(head) \(initializer) }()" : "\(initializer)"
        value = " = ReactorObservation._$ObservedValue(\(argument))"
      } else if let initial = binding.defaultValue {
        value = " = ReactorObservation._$ObservedValue(\(initial))"
      }
      return ["\(raw: variable.isolation)private var \(raw: property.storage)\(raw: annotation)\(raw: value)"]
    }
  }

  /// `@ObservableStateIgnored`: only a mark. It must have a role, and adds nothing.
  public enum ObservableStateIgnoredMacro: AccessorMacro {
    public static func expansion(
      of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] { [] }
  }
#endif
