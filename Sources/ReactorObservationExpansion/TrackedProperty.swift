#if canImport(SwiftSyntax)
  import SwiftSyntax

  /// What `@ObservableState` does with a member of the state that it is attached to.
  enum MemberKind {
    /// Each change is announced.
    case tracked(TrackedProperty)
    /// A `@Pulse`: compared by its count when a state is delivered.
    case pulse(TrackedProperty)
    /// Not stored, constant, ignored on purpose, or no property at all.
    case untouched
    /// It cannot be tracked, and is not marked as ignored.
    case refused(ObservationDiagnostic)
  }

  /// A stored property whose changes are announced, or a pulse.
  struct TrackedProperty {
    /// As it is written, perhaps in backquotes.
    let name: String

    /// The name of the property that contains its value. `default` has `_default`, but a name with other characters than those of
    /// an identifier needs backquotes there, too.
    var storage: String {
      let plain = name.withoutBackquotes
      let isIdentifier = plain == name || plain.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
      return isIdentifier ? "_\(plain)" : "`_\(plain)`"
    }
  }

  extension VariableDeclSyntax {
    /// Returns what becomes of the property.
    var observationKind: MemberKind {
      guard bindingSpecifier.tokenKind == .keyword(.var), !isOfType, !hasAttribute(ignoredName) else {
        return .untouched
      }
      guard let binding = bindings.first, !binding.isComputed else { return .untouched }
      if bindings.count > 1 { return .refused(.severalProperties) }
      guard let name = binding.name else { return .refused(.pattern) }
      if name.withoutBackquotes.hasPrefix("_") { return .untouched }
      if hasAttribute("Pulse") { return .pulse(TrackedProperty(name: name)) }
      if let wrapper = customAttributes.first { return .refused(.wrapper(wrapper)) }
      if binding.accessorBlock != nil { return .refused(.propertyObservers) }
      if let modifier = unsupportedModifier { return .refused(.modifier(modifier)) }
      return .tracked(TrackedProperty(name: name))
    }

    /// The names of the properties that are stored in a value, as far as they are known to have key paths. A getter that is
    /// `mutating`, such as that of a `lazy` property or of some wrappers, has none, and one that belongs to an actor may not.
    var namesInKeyPaths: [String] {
      switch observationKind {
      case .tracked(let property), .pulse(let property): return [property.name]
      case .refused: return []
      case .untouched:
        let isPlain =
          attributeNames.allSatisfy { $0.isOrEnds(with: ignoredName) } && unsupportedModifier == nil
        return isOfType || !isPlain ? [] : bindings.filter { !$0.isComputed }.compactMap(\.name)
      }
    }

    /// Whether it belongs to the type, not to a value.
    private var isOfType: Bool {
      modifiers.contains { $0.name.tokenKind == .keyword(.static) || $0.name.tokenKind == .keyword(.class) }
    }

    /// `nonisolated(unsafe)`, which the storage of the property needs as well: without it, a state that is Sendable cannot store a
    /// value that is not.
    var isolation: String {
      let modifier = modifiers.first { $0.name.tokenKind == .keyword(.nonisolated) }
      return modifier.map { "\($0.trimmedDescription) " } ?? ""
    }

    /// A modifier that the storage of a tracked property cannot have.
    private var unsupportedModifier: String? {
      modifiers.first { modifier in
        [.keyword(.lazy), .keyword(.weak), .keyword(.unowned)].contains(modifier.name.tokenKind)
      }?.name.text
    }

    /// The attributes that may be property wrappers: those of the language begin with a lower-case letter.
    private var customAttributes: [String] {
      attributeNames.filter { name in
        name != trackedName && name.split(separator: ".").last?.first?.isUppercase == true
      }
    }

    func hasAttribute(_ name: String) -> Bool {
      attributeNames.contains { $0.isOrEnds(with: name) }
    }

    private var attributeNames: [String] { attributes.names }
  }

  extension AttributeListSyntax {
    /// The names, with those of their modules and without generic arguments.
    var names: [String] {
      compactMap { element in
        guard case .attribute(let attribute) = element else { return nil }
        return attribute.attributeName.trimmedDescription.split(separator: "<").first.map(String.init)
      }
    }
  }

  extension PatternBindingSyntax {
    var name: String? { pattern.as(IdentifierPatternSyntax.self)?.identifier.text }

    /// Whether it has a getter. A block of `willSet` and `didSet` only belongs to a stored property.
    var isComputed: Bool {
      guard let accessors = accessorBlock?.accessors else { return false }
      guard case .accessors(let list) = accessors else { return true }
      return list.contains { accessor in
        let kind = accessor.accessorSpecifier.tokenKind
        return kind != .keyword(.willSet) && kind != .keyword(.didSet)
      }
    }

    /// The value of the property without an initializer, if it has one: nil for `var name: String?`.
    var defaultValue: String? { typeAnnotation?.type.defaultValue }
  }

  extension TypeSyntax {
    /// The value of a variable of the type that is not initialized: that of optionals, and of tuples of these.
    fileprivate var defaultValue: String? {
      if self.is(OptionalTypeSyntax.self) || self.is(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
        return "nil"
      }
      guard let elements = self.as(TupleTypeSyntax.self)?.elements, !elements.isEmpty else { return nil }
      let values = elements.compactMap(\.type.defaultValue)
      return values.count == elements.count ? "(\(values.joined(separator: ", ")))" : nil
    }
  }

  extension String {
    fileprivate var withoutBackquotes: String { filter { $0 != "`" } }

    /// Whether it is that name, or one in a module or type that ends with it.
    fileprivate func isOrEnds(with name: String) -> Bool { self == name || hasSuffix("." + name) }
  }

  let ignoredName = "ObservableStateIgnored"
  let trackedName = "ObservableStateTracked"
#endif
