/// A document of which parts are generated: all that is between two lines such as `<!-- limits: begin -->` and
/// `<!-- limits: end -->`. The rest is written by hand and kept.
package struct MarkedText: Equatable, Sendable {
  private enum Part: Equatable {
    case written([Substring])
    case generated(name: String)
  }

  private let parts: [Part]

  /// Throws if a marker has no partner.
  ///
  /// - Parameter path: the name of the document in the error.
  package init(_ text: String, path: String) throws(UsageError) {
    var parts: [Part] = []
    var written: [Substring] = []
    var open: String?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let marker = Self.marker(line)
      switch (open, marker?.isBegin) {
      case (nil, true?):
        parts += [.written(written), .generated(name: marker!.name)]
        written = []
        open = marker!.name
      case (let name?, false?) where marker!.name == name:
        open = nil
      case (_, .some):
        throw UsageError("\(path): '\(line)' has no partner.")
      case (nil, nil):
        written.append(line)
      case (_?, nil):
        break
      }
    }
    if let open { throw UsageError("\(path): the part '\(open)' has no end.") }
    self.parts = parts + [.written(written)]
  }

  /// The names of the generated parts, in their order.
  package var names: [String] {
    parts.compactMap { part in
      if case .generated(let name) = part { name } else { nil }
    }
  }

  /// The document with `content` of its name in each generated part.
  package func filled(_ content: (String) throws(UsageError) -> String) throws(UsageError) -> String {
    var lines: [String] = []
    for part in parts {
      switch part {
      case .written(let written): lines += written.map(String.init)
      case .generated(let name):
        lines += ["<!-- \(name): begin -->", try content(name), "<!-- \(name): end -->"]
      }
    }
    return lines.joined(separator: "\n")
  }

  private static func marker(_ line: Substring) -> (name: String, isBegin: Bool)? {
    for (suffix, isBegin) in [(": begin -->", true), (": end -->", false)]
    where line.hasPrefix("<!-- ") && line.hasSuffix(suffix) {
      return (String(line.dropFirst(5).dropLast(suffix.count)), isBegin)
    }
    return nil
  }
}
