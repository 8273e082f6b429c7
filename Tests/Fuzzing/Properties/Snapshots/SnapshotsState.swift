import TestSupport

/// A change of a state.
struct SnapshotsChange: Sendable {
  enum Kind: CaseIterable { case append, replaceAll, removeFirst, insert, removeKey }

  let kind: Kind
  let value: Int
}

/// A state of the snapshots property. Each change changes all of its lines, so a torn state has another fingerprint.
protocol SnapshotsState: Sendable {
  /// Whether it contains references, so that `.automatic` means on demand.
  static var hasReferences: Bool { get }

  init(_ payload: LifetimeTracked)
  /// How many changes it contains.
  var version: Int { get }
  /// A number that depends on everything in the state. It copies nothing, since a copy would keep a collection from being
  /// changed while it is read.
  var fingerprint: Int { get }
  mutating func apply(_ change: SnapshotsChange, _ payload: LifetimeTracked)
}

/// Plain values on four cache lines.
struct PlainState: SnapshotsState {
  static let hasReferences = false

  private(set) var version = 0
  private var words = InlineArray<24, Int>(repeating: 0)
  private var last = 0

  init(_ payload: LifetimeTracked) {}

  var fingerprint: Int {
    var result = version
    for index in words.indices { result = result &* 31 &+ words[index] }
    return result &* 31 &+ last
  }

  mutating func apply(_ change: SnapshotsChange, _ payload: LifetimeTracked) {
    version += 1
    for index in words.indices { words[index] = words[index] &* 3 &+ change.value &+ index }
    last = version
  }
}

/// Plain values that fit in registers.
struct SmallState: SnapshotsState {
  static let hasReferences = false

  private(set) var version = 0
  private var word = 0
  private var last = 0

  init(_ payload: LifetimeTracked) {}

  var fingerprint: Int { (version &* 31 &+ word) &* 31 &+ last }

  mutating func apply(_ change: SnapshotsChange, _ payload: LifetimeTracked) {
    version += 1
    word = word &* 3 &+ change.value
    last = version
  }
}

/// Collections, an object, and plain values on three cache lines.
struct CollectionState: SnapshotsState {
  static let hasReferences = true

  private(set) var version = 0
  private var numbers: [Int] = [1, 2, 3]
  private var words = InlineArray<16, Int>(repeating: 0)
  private var table: [Int: Int] = [:]
  private var payload: LifetimeTracked
  private var last = 0

  init(_ payload: LifetimeTracked) { self.payload = payload }

  var fingerprint: Int {
    var result = version
    for number in numbers { result = result &* 31 &+ number }
    for index in words.indices { result = result &* 31 &+ words[index] }
    // In any order, since that of a dictionary depends on its history.
    for (key, value) in table { result = result &+ (key &+ 7) &* (value &+ 13) &* 2_654_435_761 }
    return (result &* 31 &+ payload.value) &* 31 &+ last
  }

  mutating func apply(_ change: SnapshotsChange, _ payload: LifetimeTracked) {
    version += 1
    switch change.kind {
    case .append: numbers.append(change.value)
    case .replaceAll: for index in numbers.indices { numbers[index] = numbers[index] &* 5 &+ change.value }
    case .removeFirst: if !numbers.isEmpty { numbers.removeFirst() }
    case .insert: table[change.value % 8] = version
    case .removeKey: table[change.value % 8] = nil
    }
    for index in words.indices { words[index] = version &+ index }
    self.payload = payload
    last = version
  }
}
