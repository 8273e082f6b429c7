import ReactorCore
import ReactorJournal
import ReactorRuntime

/// A reactor that notices what is lost, doubled or out of order: each account counts its mutations up from 1, and each action
/// moves 1 from an account to its partner.
public final class Sequences: DurableReactor {
  public static let accounts = 4

  public enum Action: Sendable { case next(account: Int) }

  public enum Mutation: JournalRecord {
    /// The first half of an action: the number of the account's action.
    case take(account: UInt8, number: UInt64)
    /// The second half.
    case give(account: UInt8)

    public func encode(into encoder: inout RecordEncoder) {
      switch self {
      case .take(let account, let number):
        encoder.append(account)
        encoder.append(number)
      case .give(let account):
        encoder.append(account | 0x80)
      }
    }

    public init(from decoder: inout RecordDecoder, version: UInt16) throws(MalformedRecord) {
      let account = try decoder.read(UInt8.self)
      self =
        account & 0x80 != 0
        ? .give(account: account & 0x7F) : .take(account: account, number: try decoder.read())
    }
  }

  public struct State: Codable, Sendable, Equatable {
    public var numbers = [UInt64](repeating: 0, count: Sequences.accounts)
    public var balances = [Int64](repeating: 0, count: Sequences.accounts)
    /// How often a number did not follow the one before.
    public var faults = 0

    /// Whether it is the state after whole actions, without a hole.
    public var isWhole: Bool { faults == 0 && balances.reduce(0, +) == 0 }
  }

  public static let schema = Schema("sequences")
  public let initialState = State()
  public let runtime: Runtime<Action, Mutation, State>

  public init(_ journal: Journal, _ name: String) {
    runtime = Runtime(journal: journal.entry(name))
  }

  public func mutate(action: Action) -> Observable<Mutation> {
    switch action {
    case .next(let account):
      let number = currentState.numbers[account] + 1
      return .of(
        .take(account: UInt8(account), number: number), .give(account: UInt8((account + 1) % Self.accounts)))
    }
  }

  public func reduce(into state: inout State, mutation: Mutation) {
    switch mutation {
    case .take(let account, let number):
      if number != state.numbers[Int(account)] + 1 { state.faults += 1 }
      state.numbers[Int(account)] = number
      state.balances[Int(account)] -= 1
    case .give(let account):
      state.balances[Int(account)] += 1
    }
  }

  public static func digest(of state: borrowing State) -> UInt64? {
    state.numbers.enumerated().reduce(0) { $0 &+ UInt64($1.offset + 1) &* $1.element }
  }
}

/// What a child has seen before it was killed, in a file that it shares with the test.
public struct Acknowledgements: Sendable {
  private let words: MappedWords

  public init?(path: String) {
    guard let words = try? MappedWords(path: path, count: 4 * Sequences.accounts) else { return nil }
    self.words = words
  }

  /// The last number of an account whose durable send has returned.
  public subscript(reactor: Int, account: Int) -> UInt64 {
    get { words[reactor * Sequences.accounts + account] }
    nonmutating set { words[reactor * Sequences.accounts + account] = newValue }
  }

  /// How many numbers there are in all, which grows.
  public var sum: UInt64 { (0..<4 * Sequences.accounts).reduce(0) { $0 + words[$1] } }

  /// The last number of an account that an observer of `state` was told.
  public subscript(shownBy reactor: Int, account: Int) -> UInt64 {
    get { words[(2 + reactor) * Sequences.accounts + account] }
    nonmutating set { words[(2 + reactor) * Sequences.accounts + account] = newValue }
  }
}

extension JournalConfiguration {
  /// With many snapshots, digests and small buffers, so that a process is often killed in the middle of them.
  public static var busy: JournalConfiguration {
    var configuration = JournalConfiguration()
    configuration.bufferBytes = 2048
    configuration.commitBytes = 4096
    configuration.snapshotRecords = 200
    configuration.snapshotRatio = 0
    configuration.digestRecords = 100
    return configuration
  }
}
