import TestSupport

/// The parameters of a scenario with a ring.
struct RingLoad: Sendable, CustomStringConvertible {
  /// How a producer sends.
  enum Sending: String, CaseIterable, Sendable {
    case singles, batches, mixed
  }

  /// Where the cursors start. They pass a boundary about in the middle of the scenario.
  enum Start: String, CaseIterable, Sendable {
    case zero
    /// The word in a slot keeps 56 bits of the cursor.
    case near2To56
    /// The claim cursor has 63 bits.
    case near2To63
    case near2To64

    func cursor(halfway: Int) -> UInt64 {
      switch self {
      case .zero: 0
      case .near2To56: (1 << 56) &- UInt64(halfway)
      case .near2To63: (1 << 63) &- UInt64(halfway)
      case .near2To64: 0 &- UInt64(halfway)
      }
    }
  }
  var capacity: Int
  var producers: Int
  var start = Start.zero
  var sending = Sending.singles
  /// The number for each producer.
  var elements: Int
  var isRecorded: Bool

  var firstCursor: UInt64 { start.cursor(halfway: elements * producers / 2) }

  var description: String {
    "capacity \(capacity), \(producers) producers, start \(start), \(sending)"
      + (isRecorded ? ", recorded" : "")
  }

  /// Every capacity with every number of producers and every start. The short mode combines each with one way of
  /// sending, in turn; the long mode with all of them.
  static func all(elements: Int, isRecorded: Bool) -> [RingLoad] {
    var loads: [RingLoad] = []
    for capacity in [2, 4, 64, 4096] {
      for producers in [1, 2, 4, 8] {
        for start in Start.allCases {
          for sending in Sending.allCases {
            loads.append(
              RingLoad(
                capacity: capacity, producers: producers, start: start, sending: sending,
                elements: StressMode.rounds(elements) / producers, isRecorded: isRecorded))
          }
        }
      }
    }
    if StressMode.current == .long { return loads }
    let ways = Sending.allCases.count
    return loads.enumerated().filter { $0.offset % ways == ($0.offset / ways) % ways }.map(\.element)
  }
}

/// An element of a ring or a lane: words that belong together, and an object if payloads are counted.
struct Item: Sendable {
  let producer: Int
  let sequence: Int
  private let check: Int
  private let payload: LifetimeTracked?

  init(producer: Int, sequence: Int, countedBy payloads: Lifetimes? = nil) {
    self.producer = producer
    self.sequence = sequence
    payload = payloads?.track(sequence)
    check = producer &* 31 &+ ~sequence
  }

  /// Whether the words are those of one element.
  var isWhole: Bool {
    check == producer &* 31 &+ ~sequence && (payload == nil || payload?.value == sequence)
  }

  var id: History.ElementID { History.ElementID(producer: producer, sequence: sequence) }
}

/// Checks, without a recorded history, that each producer's elements arrive whole, once and in order.
struct SequenceChecker {
  private(set) var next: [Int]
  /// The first violation.
  private(set) var complaint: String?

  init(producers: Int) { next = Array(repeating: 0, count: producers) }

  mutating func receive(_ item: Item) {
    guard complaint == nil else { return }
    if !item.isWhole {
      complaint = "a torn element: \(item)"
    } else if item.sequence != next[item.producer] {
      complaint = "producer \(item.producer): got \(item.sequence), expected \(next[item.producer])"
    } else {
      next[item.producer] += 1
    }
  }
}
