#if ObservationMacros
  import SwiftDiagnostics
  import Testing

  @Suite struct DiagnosticTests {
    @Test func `a class is refused, and becomes a struct by the fix-it`() {
      let expansion = Expansion(of: "@ObservableState\nclass State {\n  var count = 0\n}")
      #expect(
        expansion.messages == [
          "'@ObservableState' needs a struct or an enum, since a state is a value; this is a class"
        ])
      #expect(expansion.repairs == ["\nstruct "])
      #expect(!expansion.text.contains("_$observationRegistrar"))
      #expect(!expansion.text.contains("extension State"))
    }

    @Test func `an actor is refused`() {
      let expansion = Expansion(of: "@ObservableState actor State {}")
      #expect(
        expansion.messages == [
          "'@ObservableState' needs a struct or an enum, since a state is a value; this is neither"
        ])
    }

    @Test func `a case inside of a condition is refused`() {
      let expansion = Expansion(
        of: "@ObservableState enum Page {\n  case first\n  #if DEBUG\n  case second\n  #endif\n}")
      #expect(
        expansion.messages == [
          "'@ObservableState' cannot observe an enum with cases inside of '#if'"
        ])
    }

    @Test func `several properties in one declaration are split by the fix-it`() {
      let expansion = Expansion(
        of: "@ObservableState struct State {\n  var a = 0, b: Int\n  var c, d: String\n}")
      #expect(
        expansion.messages == [
          "'@ObservableState' needs a declaration of its own for each property",
          "'@ObservableState' needs a declaration of its own for each property",
        ])
      #expect(
        expansion.repairs.first == "\n  var a = 0\n  var b: Int\n  var c, d: String")
      #expect(
        expansion.repairs.last == "\n  var a = 0, b: Int\n  var c: String\n  var d: String")
    }

    @Test func `the fix-it gives a property the type of the next one that has a type`() {
      let expansion = Expansion(
        of: "@ObservableState struct State {\n  var a, b: Int, c: String\n  var d, e: Int, f = 0\n}")
      #expect(
        expansion.repairs.first == "\n  var a: Int\n  var b: Int\n  var c: String\n  var d, e: Int, f = 0")
      #expect(
        expansion.repairs.last == "\n  var a, b: Int, c: String\n  var d: Int\n  var e: Int\n  var f = 0")
    }

    @Test func `a pattern is refused`() {
      let expansion = Expansion(of: "@ObservableState struct State {\n  var (a, b) = (0, 0)\n}")
      #expect(
        expansion.messages == [
          "'@ObservableState' cannot track properties that are declared by a pattern"
        ])
    }

    @Test(arguments: [
      ("@Clamped var level = 0", "'@Clamped'"), ("@Clamped<Int> var level = 0", "'@Clamped'"),
      ("@MainActor var level = 0", "'@MainActor'"), ("lazy var level = 0", "a 'lazy' property"),
      ("weak var parent: Node?", "a 'weak' property"),
      ("unowned var parent: Node", "an 'unowned' property"),
    ]) func `what cannot be tracked is marked as ignored by the fix-it`(property: String, name: String) {
      let expansion = Expansion(of: "@ObservableState struct State {\n  \(property)\n}")
      #expect(expansion.messages.count == 1)
      #expect(expansion.messages.first?.contains(name) == true)
      #expect(expansion.diagnostics.first?.diagMessage.severity == .error)
      #expect(expansion.repairs == ["\n  @ObservableStateIgnored \(property)"])
    }

    @Test func `a property with observers is not tracked, with a warning`() {
      let expansion = Expansion(
        of: "@ObservableState struct State {\n  var level = 0 { didSet { print(level) } }\n}")
      #expect(expansion.diagnostics.first?.diagMessage.severity == .warning)
      #expect(
        expansion.repairs == [
          "\n  @ObservableStateIgnored var level = 0 { didSet { print(level) } }"
        ])
      #expect(!expansion.tracks("_level"))
    }

    @Test func `a property that is marked as ignored may have anything`() {
      let expansion = Expansion(
        of: """
          @ObservableState struct State {
            @ObservableStateIgnored @Clamped var level = 0
            @ObservableStateIgnored lazy var total = 0
          }
          """)
      #expect(expansion.diagnostics.isEmpty)
    }
  }
#endif
