#if ObservationMacros
  import Foundation
  import Testing

  @Suite struct StructExpansionTests {
    @Test func `a stored property becomes accessors and storage`() {
      let expansion = Expansion(
        of: """
          @ObservableState
          struct State {
            var count: Int = 0
          }
          """)
      #expect(expansion.diagnostics.isEmpty)
      #expect(
        expansion.text == """
          struct State {
            var count: Int {
              @storageRestrictions(initializes: _count)
              init(initialValue) {
                _count = ReactorObservation._$ObservedValue(initialValue)
              }
              get {
                _$observationRegistrar.access(self, keyPath: \\Self.count)
                return _count.value
              }
              set {
                guard !ReactorObservation._$isSame(_count.value, newValue) else {
                  _count.value = newValue
                  return
                }
                let _$isRead = _$observationRegistrar._$willChange(&_count.version)
                if _$isRead {
                  _$observationRegistrar.willSet(self, keyPath: \\Self.count)
                }
                _count.value = newValue
                if _$isRead {
                  _$observationRegistrar.didSet(self, keyPath: \\Self.count)
                }
              }
              _modify {
                let _$isRead = _$observationRegistrar._$willChange(&_count.version)
                if _$isRead {
                  _$observationRegistrar.willSet(self, keyPath: \\Self.count)
                }
                defer {
                  if _$isRead {
                    _$observationRegistrar.didSet(self, keyPath: \\Self.count)
                  }
                }
                yield &_count.value
              }
            }

            private var _count: ReactorObservation._$ObservedValue<Int> = ReactorObservation._$ObservedValue(0)

            var _$observationRegistrar = ReactorObservation.ObservableStateRegistrar()

            var _$id: ReactorObservation.ObservableStateID {
              _$observationRegistrar._$id
            }

            static var _$announcesProperties: Bool {
              true
            }

            static func _$isStored(_ keyPath: PartialKeyPath<Self>) -> Bool {
              if ReactorObservation.ObservableStateRegistrar._$isSame(keyPath, \\Self.count) {
                return true
              }
              return false
            }

            func _$access<_$Member>(_ keyPath: KeyPath<Self, _$Member>) {
              _$observationRegistrar.access(self, keyPath: keyPath)
            }

            mutating func _$adopt(from old: Self?) {
              _$observationRegistrar._$adopt(from: old?._$observationRegistrar)
              ReactorObservation._$adopt(&_count.value, from: old?._count.value)
            }

            func _$announce(changesFrom old: Self) -> Bool {
              let _$changes = ReactorObservation.ObservableStateChanges(_$observationRegistrar, from: old._$observationRegistrar)
              var _$hasPulse = false
              if ReactorObservation._$announce(_count.value, from: old._count.value, noting: &_$hasPulse) || _$changes.contains(_count.version, old._count.version) && !ReactorObservation._$isSame(_count.value, old._count.value) {
                _$observationRegistrar._$announce(self, keyPath: \\Self.count)
              }
              return _$hasPulse
            }
          }

          extension State: ReactorObservation.ObservableState {
          }

          extension State: ReactorObservation._$Observable {
          }
          """)
    }

    @Test(arguments: [
      ("var count = 0", "private var _count = ReactorObservation._$ObservedValue(0)"),
      ("var name: String", "private var _name: ReactorObservation._$ObservedValue<String>"),
      (
        "var title: String?",
        "private var _title: ReactorObservation._$ObservedValue<String?> = ReactorObservation._$ObservedValue(nil)"
      ),
      (
        "var title: String!",
        "private var _title: ReactorObservation._$ObservedValue<String?> = ReactorObservation._$ObservedValue(nil)"
      ),
      (
        "var range: (Int?, to: (Int?))",
        "private var _range: ReactorObservation._$ObservedValue<(Int?, to: (Int?))> = ReactorObservation._$ObservedValue((nil, (nil)))"
      ),
      ("var pair: (Int?, Int)", "private var _pair: ReactorObservation._$ObservedValue<(Int?, Int)>"),
      (
        "nonisolated(unsafe) var cache: Cache",
        "nonisolated(unsafe) private var _cache: ReactorObservation._$ObservedValue<Cache>"
      ),
      ("public var count = 0", "private var _count = ReactorObservation._$ObservedValue(0)"),
      ("private var secret = 0", "private var _secret = ReactorObservation._$ObservedValue(0)"),
      ("var `default` = 0", "private var _default = ReactorObservation._$ObservedValue(0)"),
      ("var `response time` = 0", "private var `_response time` = ReactorObservation._$ObservedValue(0)"),
    ]) func `the storage has the type and the value of the property`(property: String, storage: String) {
      let expansion = Expansion(of: "@ObservableState struct State {\n  \(property)\n}")
      #expect(expansion.diagnostics.isEmpty)
      #expect(expansion.text.contains(storage + "\n"))
    }

    @Test(arguments: [
      ("var level: Int = if isOn { 1 } else { 2 }", "<Int>", "{ () -> Int in if isOn { 1 } else { 2 } }()"),
      (
        "var title: String! = switch 1 { default: nil }", "<String?>",
        "{ () -> String? in switch 1 { default: nil } }()"
      ),
      ("var level = if isOn { 1 } else { 2 }", nil, "{ if isOn { 1 } else { 2 } }()"),
    ]) func `a condition as initial value is the result of a closure`(
      property: String, type: String?, closure: String
    ) {
      let expansion = Expansion(of: "@ObservableState struct State {\n  \(property)\n}")
      #expect(expansion.diagnostics.isEmpty)
      let typed = type.map { ": ReactorObservation._$ObservedValue\($0)" } ?? ""
      let storage = "\(typed) = ReactorObservation._$ObservedValue(\(closure))"
      #expect(expansion.text.filter { !$0.isWhitespace }.contains(storage.filter { !$0.isWhitespace }))
    }

    @Test(arguments: [
      "let id = 0", "var computed: Int { 0 }", "var computed: Int { get { 0 } set {} }",
      "static var shared = 0",
      "var _hidden = 0", "var `_hidden one` = 0", "@ObservableStateIgnored var cache = 0", "func f() {}",
      "let a = 0, b = 1",
      "@Pulse var message: String?", "case one", "struct Inner { var value = 0 }",
    ]) func `what is not stored or not to be observed is left as it is`(member: String) {
      let expansion = Expansion(of: "@ObservableState struct State {\n  \(member)\n}")
      #expect(expansion.diagnostics.isEmpty)
      #expect(!expansion.text.contains("storageRestrictions"))
      #expect(!expansion.text.contains("_$ObservedValue"))
    }

    @Test func `a struct without stored properties that change conforms`() {
      for body in ["", "let id = 0", "var computed: Int { 0 }"] {
        let source = "@ObservableState struct State { \(body) }"
        let expansion = Expansion(of: source)
        #expect(expansion.text.contains("extension State: ReactorObservation.ObservableState"))
        #expect(expansion.text.contains("var _$observationRegistrar"))
      }
    }

    @Test func `each of several properties gets storage of its own`() {
      let expansion = Expansion(
        of: "@ObservableState struct State {\n  var a = 1\n  let b = 2\n  var c: Bool = false\n}")
      #expect(expansion.tracks("_a"))
      #expect(!expansion.tracks("_b"))
      #expect(expansion.tracks("_c"))
    }

    @Test func `a pulse is compared by its count and its value`() {
      let expansion = Expansion(of: "@ObservableState struct State {\n  @Pulse var message: String?\n}")
      #expect(expansion.text.contains("if _$changes.contains(_message, old._message) {"))
    }

    @Test(arguments: [("`default`", "_default"), ("`last alert`", "`_last alert`")])
    func `a pulse whose name needs backquotes is compared`(name: String, storage: String) {
      let expansion = Expansion(of: "@ObservableState struct State {\n  @Pulse var \(name): String?\n}")
      #expect(expansion.text.contains("if _$changes.contains(\(storage), old.\(storage)) {"))
      #expect(expansion.text.contains("_$announce(self, keyPath: \\Self.\(name))"))
    }

    @Test func `conditions are repeated where changes are announced`() {
      let expansion = Expansion(
        of: """
          @ObservableState struct State {
            #if A && B
              @Pulse var a = 0
            #else
              @Pulse var b = 0
            #endif
          }
          """)
      #expect(expansion.diagnostics.isEmpty)
      let lines = expansion.text.split(separator: "\n").map { $0.drop { $0 == " " } }
      let begin = lines.lastIndex(of: "#if A && B") ?? 0
      #expect(
        lines[begin...].prefix(11) == [
          "#if A && B", "if _$changes.contains(_a, old._a) {", "_$hasPulse = true",
          "_$observationRegistrar._$announce(self, keyPath: \\Self.a)", "}", "#else",
          "if _$changes.contains(_b, old._b) {", "_$hasPulse = true",
          "_$observationRegistrar._$announce(self, keyPath: \\Self.b)", "}", "#endif",
        ])
    }

    @Test func `a read of what is not known to be stored is a read of all pulses`() {
      let members = """
        var count = 0
          let a = 0, b = 1
          @ObservableStateIgnored var cache = 0
          @ObservableStateIgnored lazy var later = 0
          @ObservableStateIgnored @Wrapper var wrapped = 0
          var computed: Int { 0 }
          static var shared = 0
        """
      let expansion = Expansion(
        of: "@ObservableState struct State {\n  \(members)\n  @Pulse var message: String?\n}")
      #expect(expansion.diagnostics.isEmpty)
      for name in ["count", "a", "b", "cache", "message"] {
        #expect(expansion.text.contains("_$isSame(keyPath, \\Self.\(name))"))
      }
      // One of them in `_$isStored`, whose other properties may be set by the key path of the whole state only.
      #expect(expansion.text.components(separatedBy: "_$isSame(keyPath,").count == 7)
      #expect(expansion.text.contains("_$observationRegistrar.access(self, keyPath: \\Self.message)"))
      let plain = Expansion(of: "@ObservableState struct State {\n  \(members)\n}")
      #expect(plain.text.components(separatedBy: "_$isSame(keyPath,").count == 2)
    }

    @Test(arguments: [
      "#if A\n  let id = 0\n  #endif", "let id = 0", "#if A\n  #else\n  func f() {}\n  #endif",
    ]) func `changes are not computed where nothing is announced`(member: String) {
      let expansion = Expansion(of: "@ObservableState struct State {\n  \(member)\n}")
      #expect(!expansion.text.contains("_$changes"))
    }

    @Test func `changes are used whatever the conditions are`() {
      let expansion = Expansion(of: "@ObservableState struct State {\n  #if A\n  var a = 0\n  #endif\n}")
      #expect(expansion.text.contains("_ = _$changes\n"))
      let plain = Expansion(of: "@ObservableState struct State {\n  var a = 0\n}")
      #expect(!plain.text.contains("_ = _$changes\n"))
    }

    @Test(arguments: [
      ("public extension Feature {\n  @ObservableState struct State {}\n}", "public "),
      ("package extension Feature {\n  @ObservableState struct State {}\n}", "package "),
      ("public extension Feature {\n  @ObservableState internal struct State {}\n}", ""),
      ("public extension Feature {\n  struct Outer {\n    @ObservableState struct State {}\n  }\n}", ""),
      ("extension Feature {\n  @ObservableState struct State {}\n}", ""),
      ("public enum Feature {\n  @ObservableState struct State {}\n}", ""),
    ]) func `a type without a modifier is as visible as its extension says`(source: String, access: String) {
      let text = Expansion(of: source).text
      #expect(text.contains(" \(access)mutating func _$adopt"))
      #expect(access != "" || !text.contains("public mutating") && !text.contains("package mutating"))
    }

    @Test(arguments: ["public", "package"])
    func `what the protocol requires is as visible as the type`(access: String) {
      let expansion = Expansion(of: "@ObservableState \(access) struct State {\n  \(access) var count = 0\n}")
      for member in [
        "var _$observationRegistrar", "var _$id", "static var _$announcesProperties",
        "func _$access", "mutating func _$adopt", "func _$announce",
      ] { #expect(expansion.text.contains("\(access) \(member)")) }
    }

    @Test(arguments: ["", "internal ", "package "])
    func `in inlinable code, what the protocol requires is as visible as the type`(access: String) {
      let expansion = Expansion(
        of: "@usableFromInline @ObservableState \(access)struct State {\n  var count = 0\n}")
      let modifier = access == "package " ? access : ""
      for member in [
        "var _$id", "static var _$announcesProperties", "func _$access", "mutating func _$adopt",
      ] {
        #expect(expansion.text.contains("@usableFromInline \(modifier)\(member)"))
      }
    }

    @Test(arguments: ["private", "fileprivate", "internal"])
    func `a type that is less visible needs no modifiers`(access: String) {
      let expansion = Expansion(of: "@ObservableState \(access) struct State {}")
      #expect(expansion.text.contains("\n  var _$id"))
    }
  }
#endif
