/// How names of cases are matched on the command line.
package enum CaseName {
  /// Whether `pattern` is `name` or a prefix of it. The empty pattern selects nothing: it is a typo.
  package static func selects(_ pattern: String, _ name: String) -> Bool {
    !pattern.isEmpty && name.hasPrefix(pattern)
  }

  /// Whether any of `patterns` selects `name`; no patterns select everything.
  package static func selects(_ patterns: [String], _ name: String) -> Bool {
    patterns.isEmpty || patterns.contains { selects($0, name) }
  }
}
