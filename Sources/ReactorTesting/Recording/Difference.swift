import ReactorRuntime

/// What differs between a list and what it should be, as text for a test's message; nil if nothing does.
///
///     The first difference is at index 1; 3 were expected and 2 recorded.
///       0   next(1)
///     - 1   next(2)
///     + 1   next(5)
///     - 2   completed
///
/// Lines with a minus are expected, those with a plus recorded. Long lists are cut.
public func difference<Item: Equatable>(of recorded: [Item], from expected: [Item]) -> String? {
  let common = min(recorded.count, expected.count)
  let first = (0..<common).first { recorded[$0] != expected[$0] } ?? common
  if first == recorded.count && first == expected.count { return nil }
  var lines = [
    "The first difference is at index \(first); \(expected.count) were expected and \(recorded.count) recorded."
  ]
  let begin = max(0, first - 3)
  let end = max(recorded.count, expected.count)
  let shownEnd = min(end, first + 10)
  if begin > 0 { lines.append("  … \(begin) equal") }
  for index in begin..<shownEnd {
    let wanted = index < expected.count ? expected[index] : nil
    let got = index < recorded.count ? recorded[index] : nil
    if let wanted, wanted == got {
      lines.append("  \(index)   \(wanted)")
    } else {
      if let wanted { lines.append("- \(index)   \(wanted)") }
      if let got { lines.append("+ \(index)   \(got)") }
    }
  }
  if shownEnd < end { lines.append("  … \(end - shownEnd) more") }
  return lines.joined(separator: "\n")
}

extension TestableObserver where Element: Equatable {
  /// What differs from the events that should have come; nil if nothing does.
  public func difference(from expected: [Recorded<Event<Element>>]) -> String? {
    ReactorTesting.difference(of: events, from: expected)
  }
}
