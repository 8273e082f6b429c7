import ReactorRuntime

/// How an action is sent.
enum SendWay: Sendable {
  case send
  case trySend
  /// With a deadline that has passed, so that it does not wait.
  case sendBeforeNow
}

/// An action to be sent, and what its reactor does when it processes it.
struct Delivery: Sendable {
  let way: SendWay
  let tasks: [OverflowErrand]
}

/// An operation that is possible outside of turns and inside the turn of an action.
enum OverflowErrand: Sendable {
  case deliver(Delivery)
  /// Sends from inside a turn of another reactor.
  case courier([Delivery])
  case close(Closing)
}

enum OverflowOperation {
  case errand(OverflowErrand)
  case sendMany(Int)
  case step
  case stepUntilEmpty
}

/// A reactor on a stepped loop, and the operations on it.
struct OverflowCase {
  let policy: OverflowPolicy
  let capacity: Int
  let reentrantCapacity: Int
  let turnLimit: Int
  let operations: [OverflowOperation]

  init(_ bytes: [UInt8]) {
    var input = FuzzInput(bytes)
    policy = input.choice([.block, .fail, .dropNewest, .dropOldest])
    // With the last two capacities the mailbox begins smaller, and grows.
    capacity = input.choice([1, 2, 4, 8, 16, 128])
    reentrantCapacity = input.choice([1, 2, 3, 7, 1000])
    turnLimit = input.choice([1, 2, 3, 7, 1024])
    var operations: [OverflowOperation] = []
    while !input.isAtEnd { operations.append(input.overflowOperation()) }
    self.operations = operations
  }
}

extension FuzzInput {
  fileprivate mutating func overflowOperation() -> OverflowOperation {
    let byte = byte()
    switch byte & 7 {
    case 0, 1, 2: return .errand(.deliver(delivery(Int(byte >> 3), depth: 2)))
    case 3: return .errand(.courier(deliveries(upTo: 4, depth: 1)))
    case 4: return .sendMany(Int(byte >> 3) + 1)
    case 5, 6: return .step
    default:
      // Rare, since little can happen after it.
      switch byte >> 3 {
      case 0: return .errand(.close(.drain))
      case 1: return .errand(.close(.discard))
      default: return .stepUntilEmpty
      }
    }
  }

  /// - Parameter choice: From 0 to 31.
  private mutating func delivery(_ choice: Int, depth: Int) -> Delivery {
    let ways: [SendWay] = [.send, .send, .trySend, .sendBeforeNow]
    var tasks: [OverflowErrand] = []
    if depth > 0 {
      for _ in 0..<(choice / 4 % 4) { tasks.append(errand(depth: depth - 1)) }
    }
    return Delivery(way: ways[choice % 4], tasks: tasks)
  }

  private mutating func deliveries(upTo limit: Int, depth: Int) -> [Delivery] {
    let count = 1 + below(limit)
    return (0..<count).map { _ in delivery(Int(byte() >> 3), depth: depth) }
  }

  private mutating func errand(depth: Int) -> OverflowErrand {
    let byte = byte()
    switch byte & 7 {
    case 0...4: return .deliver(delivery(Int(byte >> 3), depth: depth))
    case 5, 6: return .courier(deliveries(upTo: 2, depth: 0))
    default:
      if byte >> 3 < 2 { return .close(byte >> 3 == 0 ? .drain : .discard) }
      return .deliver(Delivery(way: .send, tasks: []))
    }
  }
}

// Short, so that a list of operations can be read.

extension Delivery: CustomStringConvertible {
  var description: String { tasks.isEmpty ? "\(way)" : "\(way) \(tasks)" }
}

extension OverflowErrand: CustomStringConvertible {
  var description: String {
    switch self {
    case .deliver(let delivery): "\(delivery)"
    case .courier(let deliveries): "from another turn: \(deliveries)"
    case .close(let closing): "close(\(closing))"
    }
  }
}

extension OverflowOperation: CustomStringConvertible {
  var description: String {
    switch self {
    case .errand(let errand): "\(errand)"
    case .sendMany(let count): "send \(count) times"
    case .step: "step"
    case .stepUntilEmpty: "step until empty"
    }
  }
}
