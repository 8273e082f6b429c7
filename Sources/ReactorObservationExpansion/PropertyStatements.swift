#if canImport(SwiftSyntax)
  import SwiftSyntax

  /// What the generated methods of a struct do for its properties. Directives such as `#if` are statements, too.
  struct PropertyStatements {
    /// Return true if the key path leads to the tracked property.
    private var stored: [String] = []
    /// Make the readers of the old state those of the new one.
    private(set) var adoptions: [String] = []
    /// Announce what has changed.
    private var announcements: [String] = []
    /// Return if the property that is read is the one.
    private var returns: [String] = []
    /// Note a read of a pulse.
    private var pulseAccesses: [String] = []
    private var hasPulse = false
    private var hasAnnouncement = false
    private var hasDirective = false

    init() {}

    /// The statements for one property.
    init(for property: VariableDeclSyntax) {
      returns = property.namesInKeyPaths.map { name in
        """
        if ReactorObservation.ObservableStateRegistrar._$isSame(keyPath, \\Self.\(name)) {
            return
          }
        """
      }
      switch property.observationKind {
      case .tracked(let property):
        let storage = property.storage
        hasAnnouncement = true
        stored = [
          """
          if ReactorObservation.ObservableStateRegistrar._$isSame(keyPath, \\Self.\(property.name)) {
              return true
            }
          """
        ]
        adoptions = ["ReactorObservation._$adopt(&\(storage).value, from: old?.\(storage).value)"]
        // In this order: what is inside of a state is announced also if the state is the same.
        announcements = [
          """
          if ReactorObservation._$announce(\(storage).value, from: old.\(storage).value, noting: &_$hasPulse) || _$changes.contains(\(storage).version, old.\(storage).version) && !ReactorObservation._$isSame(\(storage).value, old.\(storage).value) {
              _$observationRegistrar._$announce(self, keyPath: \\Self.\(property.name))
            }
          """
        ]
      case .pulse(let property):
        let (name, storage) = (property.name, property.storage)
        (hasAnnouncement, hasPulse) = (true, true)
        announcements = [
          """
          if _$changes.contains(\(storage), old.\(storage)) {
              _$hasPulse = true
              _$observationRegistrar._$announce(self, keyPath: \\Self.\(name))
            }
          """
        ]
        pulseAccesses = ["_$observationRegistrar.access(self, keyPath: \\Self.\(name))"]
      case .refused, .untouched: break
      }
    }

    mutating func append(directive: String) {
      hasDirective = true
      stored.append(directive)
      adoptions.append(directive)
      announcements.append(directive)
      returns.append(directive)
      pulseAccesses.append(directive)
    }

    mutating func append(_ others: Self) {
      stored += others.stored
      adoptions += others.adoptions
      announcements += others.announcements
      returns += others.returns
      pulseAccesses += others.pulseAccesses
      hasPulse = hasPulse || others.hasPulse
      hasAnnouncement = hasAnnouncement || others.hasAnnouncement
      hasDirective = hasDirective || others.hasDirective
    }

    /// The body of `_$isStored`.
    var storedBody: [String] { stored + ["return false"] }

    /// The body of `_$access`, which notes that a property is read.
    ///
    /// A pulse notes no read itself. So a read of a property that is not known to be stored is a read of all pulses: it may be a
    /// computed one, and its getter may read any of them. Each comparison of key paths takes about 17 ns.
    var accessBody: [String] {
      ["_$observationRegistrar.access(self, keyPath: keyPath)"] + (hasPulse ? returns + pulseAccesses : [])
    }

    /// The body of `_$announce`.
    var announcementBody: [String] {
      guard hasAnnouncement else { return ["false"] }
      // Where none of the conditions holds, nothing else uses and changes them, and the compiler would warn.
      let uses = hasDirective ? ["_ = _$changes", "_$hasPulse = false"] : []
      return [
        "let _$changes = ReactorObservation.ObservableStateChanges(_$observationRegistrar, from: old._$observationRegistrar)",
        "var _$hasPulse = false",
      ] + uses + announcements + ["return _$hasPulse"]
    }
  }
#endif
