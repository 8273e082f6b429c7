import ReactorJournal
import ReactorRuntime

/// A reactor whose `reduce` stops the process at a number.
public final class Fragile: DurableReactor {
  public typealias Action = UInt64

  public struct Mutation: JournalRecord {
    let number: UInt64

    init(_ number: UInt64) { self.number = number }

    public func encode(into encoder: inout RecordEncoder) { encoder.append(number) }

    public init(from decoder: inout RecordDecoder, version: UInt16) throws(MalformedRecord) {
      number = try decoder.read()
    }
  }

  public struct State: Codable, Sendable, Equatable {
    public var sum: UInt64 = 0
  }

  public static let schema = Schema("fragile")
  public let initialState = State()
  public let runtime: Runtime<Action, Mutation, State>
  private let trap: UInt64?

  /// - Parameter trap: The number at which `reduce` traps; nil if it is correct.
  public init(_ journal: Journal, trapsAt trap: UInt64?) {
    runtime = Runtime(journal: journal.entry("fragile"))
    self.trap = trap
  }

  public func mutate(action: Action) -> Observable<Mutation> { .just(Mutation(action)) }

  public func reduce(into state: inout State, mutation: Mutation) {
    precondition(mutation.number != trap, "the trap")
    state.sum += mutation.number
  }
}
