/// An action: what `mutate` returns for it, and what is done in its turn.
struct Plan: Sendable {
  /// What `mutate` returns. The elements of a stream come later, when an operation emits them.
  enum Answer: Sendable {
    case known(Int)
    case stream(Int, count: Int)
    case error
  }

  let answer: Answer
  let deeds: [Deed]

  func deeds(at moment: Deed.Moment) -> [Deed] { deeds.filter { $0.moment == moment } }
}

/// What is done inside a turn.
struct Deed: Sendable {
  enum Moment: CaseIterable { case observingAction, mutating, reducing, observingState }

  let moment: Moment
  let errand: Errand
}

/// An operation, inside a turn or outside.
enum Errand: Sendable {
  enum Way { case send, trySend, onNext }

  indirect case send(Plan, to: Int, Way)
  /// Emits an element from the streams with that number, of all reactors.
  case emit(Int)
  /// Disposes of an observer of that reactor's state.
  case dispose(of: Int, observer: Int)
}

enum ReentranceOperation {
  case errand(Errand)
  case step(loop: Int)
}

/// A few reactors that send to one another and to themselves.
struct ReentranceCase {
  struct Member {
    /// The number of the loop; nil for the placement `.caller`.
    let loop: Int?
    let stateObservers: Int
    let isActionObserved: Bool
  }

  static let reactorCount = 3
  static let loopCount = 2
  static let streamCount = 2

  let members: [Member]
  let turnLimit: Int
  let operations: [ReentranceOperation]

  init(_ bytes: [UInt8]) {
    var input = FuzzInput(bytes)
    members = (0..<Self.reactorCount).map { _ in
      let byte = Int(input.byte())
      return Member(
        loop: [nil, nil, 0, 1][byte % 4], stateObservers: byte / 4 % 3, isActionObserved: byte / 12 % 2 == 1)
    }
    turnLimit = input.choice([1024, 1, 2, 5])
    var operations: [ReentranceOperation] = []
    while !input.isAtEnd { operations.append(input.reentranceOperation()) }
    self.operations = operations
  }
}

// Zeros, which are read beyond the end of the input, mean as little as possible.
extension FuzzInput {
  fileprivate mutating func reentranceOperation() -> ReentranceOperation {
    let byte = byte()
    return byte % 8 < 6
      ? .errand(errand(from: byte / 8, depth: 3)) : .step(loop: Int(byte / 8) % ReentranceCase.loopCount)
  }

  private mutating func errand(from byte: UInt8, depth: Int) -> Errand {
    let reactor = Int(byte / 4) % ReentranceCase.reactorCount
    switch byte % 4 {
    case 0, 1: return .send(plan(depth: depth), to: reactor, byte % 4 == 0 ? .send : .onNext)
    case 2: return .emit(Int(byte / 4) % ReentranceCase.streamCount)
    default:
      return byte / 4 > 5
        ? .dispose(of: reactor, observer: Int(byte) % 2)
        : .send(plan(depth: depth), to: reactor, .trySend)
    }
  }

  private mutating func plan(depth: Int) -> Plan {
    let byte = byte()
    let answer: Plan.Answer =
      switch byte % 8 {
      case 0, 1: .known(1)
      case 2: .known(0)
      case 3: .known(2)
      case 4: .known(6)
      case 5, 6: .stream(Int(byte / 64) % ReentranceCase.streamCount, count: 1 + Int(byte / 32 % 2))
      default: .error
      }
    let count = depth == 0 ? 0 : Int(byte / 8 % 4)
    return Plan(answer: answer, deeds: (0..<count).map { _ in deed(depth: depth - 1) })
  }

  private mutating func deed(depth: Int) -> Deed {
    let byte = byte()
    return Deed(
      moment: Deed.Moment.allCases[Int(byte % 4)], errand: errand(from: byte / 4, depth: depth))
  }
}

// Short, so that a list of operations can be read.

extension Plan: CustomStringConvertible {
  var description: String {
    let answered =
      switch answer {
      case .known(let count): "\(count)"
      case .stream(let number, let count): "\(count) of stream \(number)"
      case .error: "error"
      }
    return "(\(answered)\(deeds.map { "; \($0.moment): \($0.errand)" }.joined()))"
  }
}

extension Errand: CustomStringConvertible {
  var description: String {
    switch self {
    case .send(let plan, let reactor, let way): "\(way) to \(reactor) \(plan)"
    case .emit(let number): "emit on stream \(number)"
    case .dispose(let reactor, let observer): "dispose observer \(observer) of \(reactor)"
    }
  }
}

extension ReentranceOperation: CustomStringConvertible {
  var description: String {
    switch self {
    case .errand(let errand): "\(errand)"
    case .step(let loop): "step loop \(loop)"
    }
  }
}
