import Foundation

/// A report of the race against other queues, which `Benchmarks/peers` writes: a ``JSONReport``, and in addition what is
/// known of each queue and what went wrong.
package struct RaceReport: Sendable {
  /// One figure of one queue.
  struct Entry: Sendable {
    let result: CellResult
    /// The queue, whether its consumer paced itself or not.
    let subject: String
    /// Whether it refuses items beyond its capacity.
    let isBounded: Bool
    /// Whether items of different producers come out in the order in which they were accepted.
    let isFIFO: Bool

    /// Whether there are enough repetitions for a judgement. A queue that stalled in the others may have been lucky in these.
    var hasEnough: Bool { repetitions >= 4 }
    var repetitions: Int { result.figure.samples.count }
  }

  /// The fastest one of several results.
  struct Choice: Sendable {
    let best: Entry
    /// Those that were not considered, since they have too few repetitions.
    let leftOut: [Entry]
  }

  /// What a queue did that it must not.
  struct Problem: Codable, Equatable, Sendable {
    /// The words for a queue that keeps no promise, and not only stops while a thread is not running.
    private static let breaches = ["CRASHED", "LOST-ORDER", "WRONG"]

    let caseName: String
    let variant: String
    let producers: Int
    let words: String

    private enum CodingKeys: String, CodingKey {
      case caseName = "case"
      case variant, producers, words
    }

    var isBreach: Bool { Self.breaches.contains { words.contains($0) } }
  }

  package let run: RunDescription
  let entries: [Entry]
  let problems: [Problem]
  /// The placement in which figures count; nil if any does.
  let placementAsked: CorePlacement?

  /// What the file has beside the results.
  private struct Additions: Decodable {
    struct Subject: Decodable {
      let subject: String
      let isBounded: Bool
      let isFIFO: Bool
    }

    let results: [Subject]
    let problems: [Problem]
    let placementAsked: CorePlacement?
  }

  /// Reads the content of a file. Throws if it is no report of the race.
  package init(_ data: Data) throws(UsageError) {
    let report = try JSONReport(data)
    guard let additions = try? JSONDecoder().decode(Additions.self, from: data) else {
      throw UsageError("it is no report of Scripts/bench-peers.")
    }
    run = report.run
    entries = zip(report.results, additions.results).map { result, subject in
      Entry(
        result: result, subject: subject.subject, isBounded: subject.isBounded, isFIFO: subject.isFIFO)
    }
    problems = additions.problems
    placementAsked = additions.placementAsked
  }

  /// How the names of the queues begin that the race can have, if all are installed. The best of those that are there may not be the
  /// best of all.
  static let peers = [
    "aeron", "atomic_queue", "bbq", "boost", "ck_ring", "libcds", "moodycamel", "rte_ring", "tbb", "urcu",
    "xenium",
  ]

  /// Those that this report has nothing of; nil if there are none.
  var absentPeersText: String? {
    let present = entries.map(\.subject) + problems.map(\.variant)
    let absent = Self.peers.filter { peer in !present.contains { $0.hasPrefix(peer) } }
    return absent.isEmpty ? nil : "not in this race: " + absent.joined(separator: ", ")
  }

  /// Its cases, in the order of the file.
  package var outlines: [CaseOutline] {
    entries.map(\.result.caseName).uniqued().map { CaseOutline(name: $0, kind: .race) }
  }

  /// The better one of each queue's two results, with and without pacing, under the name of the queue.
  package var results: [CellResult] {
    entries.map(\.result.caseName).uniqued().flatMap { name in
      let own = entries.filter { $0.result.caseName == name }
      return own.map(\.result.producers).uniqued().flatMap { producers in
        own.map(\.subject).uniqued().compactMap { subject in
          choose(name, producers) { $0.subject == subject }.map { choice in
            var result = choice.best.result
            result.variant = subject
            return result
          }
        }
      }
    }
  }

  /// The fastest result of the queues for which `isAsked` returns true. One with too few repetitions is chosen only if all
  /// have too few. Nil if there is none.
  func choose(_ caseName: String, _ producers: Int, _ isAsked: (Entry) -> Bool) -> Choice? {
    let candidates = entries.filter { entry in
      entry.result.caseName == caseName && entry.result.producers == producers && isAsked(entry)
    }
    let judged = candidates.filter(\.hasEnough)
    let best = (judged.isEmpty ? candidates : judged).max { first, second in
      let isRate = first.result.unit.isRate
      let (less, more) = (first.result.figure.median, second.result.figure.median)
      return isRate ? less < more : less > more
    }
    return best.map { Choice(best: $0, leftOut: judged.isEmpty ? [] : candidates.filter { !$0.hasEnough }) }
  }

  /// Whether the queue broke a promise in this case with as many producers, paced or not.
  func isBreached(_ entry: Entry) -> Bool {
    problems(of: entry.subject, entry.result.caseName, entry.result.producers).contains(where: \.isBreach)
  }

  /// What went wrong with a queue in this case with so many producers, paced or not.
  func problems(of subject: String, _ caseName: String, _ producers: Int) -> [Problem] {
    problems.filter { problem in
      // The figures of one workload are several cases; what went wrong has the name of the workload.
      problem.producers == producers
        && (caseName == problem.caseName || caseName.hasPrefix(problem.caseName + "."))
        && (problem.variant == subject || problem.variant == "\(subject) paced")
    }
  }
}
