import ReactorRuntime

enum SnapshotsOperation {
  case send([SnapshotsChange])
  /// Runs a turn, on a stepped loop.
  case step
  /// A reader begins a read, and stays inside of it.
  case open(reader: Int)
  /// A reader reads once more: inside of its read, if it is inside of one.
  case look(reader: Int)
  /// A reader that is inside of a read looks at the same state again.
  case peek(reader: Int)
  case leave(reader: Int)
  /// A reader takes a copy, which is kept.
  case copy(reader: Int)
  /// A reader sends from inside of its read.
  case sendInside(reader: Int, [SnapshotsChange])
  /// The thread that sends reads.
  case lookHere
  case copyHere
  case forgetCopy
  case close(Closing)
}

/// A reactor and its readers, and the operations on them.
struct SnapshotsCase {
  static let readerCount = 4

  let policy: SnapshotPolicy
  let hasCollections: Bool
  /// Whether the state fits in registers, if it has no collections.
  let isSmall: Bool
  let isStepped: Bool
  let isObserved: Bool
  /// Whether there is a state before the first action.
  let startsEarly: Bool
  let turnLimit: Int
  let operations: [SnapshotsOperation]

  init(_ bytes: [UInt8]) {
    var input = FuzzInput(bytes)
    policy = input.choice([.copied, .onDemand, .replayed, .automatic])
    let flags = input.byte()
    hasCollections = flags & 1 != 0
    isStepped = flags & 2 != 0
    isObserved = flags & 4 != 0
    startsEarly = flags & 8 != 0
    isSmall = flags & 16 != 0
    turnLimit = input.choice([1, 3, 1024])
    var operations: [SnapshotsOperation] = []
    while !input.isAtEnd { operations.append(input.snapshotsOperation()) }
    self.operations = operations
  }

  func isOnDemand<State: SnapshotsState>(_: State.Type) -> Bool {
    policy == .onDemand || policy == .automatic && State.hasReferences
  }
}

extension FuzzInput {
  fileprivate mutating func snapshotsOperation() -> SnapshotsOperation {
    let byte = Int(byte())
    let (choice, reader) = (byte >> 4, byte >> 4 & 3)
    switch byte & 15 {
    case 0, 1, 2, 3: return .send(changes(1 + choice & 3))
    case 4, 5: return .step
    case 6, 7: return .open(reader: reader)
    case 8: return .look(reader: reader)
    case 9: return .peek(reader: reader)
    case 10: return .leave(reader: reader)
    case 11: return .copy(reader: reader)
    case 12: return .sendInside(reader: reader, changes(1 + choice >> 2))
    case 13: return .lookHere
    case 14: return choice & 1 == 0 ? .copyHere : .forgetCopy
    default:
      // Rare, since little can happen after it.
      switch choice {
      case 0: return .close(.drain)
      case 1: return .close(.discard)
      default: return .leave(reader: reader)
      }
    }
  }

  private mutating func changes(_ count: Int) -> [SnapshotsChange] {
    (0..<count).map { _ in
      let byte = Int(byte())
      return SnapshotsChange(kind: SnapshotsChange.Kind.allCases[byte % 5], value: byte / 5)
    }
  }
}

// Short, so that a list of operations can be read.

extension SnapshotsChange: CustomStringConvertible {
  var description: String { "\(kind) \(value)" }
}

extension SnapshotsOperation: CustomStringConvertible {
  var description: String {
    switch self {
    case .send(let changes): "send \(changes)"
    case .step: "step"
    case .open(let reader): "reader \(reader) begins a read"
    case .look(let reader): "reader \(reader) reads"
    case .peek(let reader): "reader \(reader) looks again"
    case .leave(let reader): "reader \(reader) ends its read"
    case .copy(let reader): "reader \(reader) takes a copy"
    case .sendInside(let reader, let changes): "reader \(reader) sends \(changes) inside of its read"
    case .lookHere: "read"
    case .copyHere: "take a copy"
    case .forgetCopy: "forget the oldest copy"
    case .close(let closing): "close(\(closing))"
    }
  }
}
