/// The operations on a stream and its sources.
enum StreamsOperation {
  case next(Int, to: Int)
  case error(to: Int)
  case complete(Int)
  case advance(Int)
  /// - Parameter limit: The number of elements after which the observer disposes of its subscription. Nil if it does
  ///   not.
  case subscribe(limit: Int?)
  case dispose(Int)
}

struct StreamsCase {
  /// Two publish subjects, a behavior subject and a replay subject.
  static let subjectCount = 4

  let pipe: Pipe
  let operations: [StreamsOperation]

  init(_ bytes: [UInt8]) {
    var input = FuzzInput(bytes)
    var budget = PipeBudget()
    pipe = input.pipe(depth: 4, &budget)
    var operations: [StreamsOperation] = [.subscribe(limit: nil)]
    while !input.isAtEnd { operations.append(Self.operation(input.byte())) }
    self.operations = operations
  }

  private static func operation(_ byte: UInt8) -> StreamsOperation {
    let operand = Int(byte & 63)
    switch byte >> 6 {
    case 0, 1: return .next(Int(byte >> 2 & 31) * 2 + Int(byte >> 1 & 1), to: Int(byte % 4))
    case 2: return .next(operand, to: operand % 4)
    default:
      switch operand % 8 {
      case 0: return .error(to: operand / 8 % 4)
      case 1: return .complete(operand / 8 % 4)
      case 2, 3, 4: return .advance(1 + operand / 8 % 4)
      case 5: return .subscribe(limit: nil)
      case 6: return .subscribe(limit: 1 + operand / 8)
      default: return .dispose(operand / 8)
      }
    }
  }
}
