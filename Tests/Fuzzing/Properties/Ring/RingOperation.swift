/// An operation on a ring. One thread plays all producers, and the consumer.
enum RingOperation {
  /// Claims this number of slots, and publishes nothing yet.
  case claim(Int)
  /// Publishes one of the open claims.
  case publish(Int)
  /// Abandons one of the open claims.
  case abandon(Int)
  case send
  case sendBatch(Int)
  case drain(upTo: Int)
  /// Drains, and sends an element for each one received.
  case drainSending(upTo: Int)
  case close

  /// Each operation is one byte, so that leaving out or doubling a byte leaves out or doubles an operation.
  init(_ byte: UInt8) {
    let operand = Int(byte & 15)
    switch byte >> 4 {
    case 0, 1: self = .claim(operand)
    case 2: self = .claim(operand + 2)
    case 3, 4, 5: self = .publish(operand)
    case 6: self = .abandon(operand)
    case 7, 8: self = .send
    case 9: self = .sendBatch(operand + 2)
    case 10: self = .sendBatch(operand)
    case 11, 12: self = .drain(upTo: operand)
    case 13: self = .drain(upTo: .max)
    case 14: self = operand == 0 ? .close : .drain(upTo: operand % 3)
    default: self = .drainSending(upTo: operand * 2)
    }
  }
}

/// A ring and the operations on it.
struct RingCase {
  let capacity: Int
  /// The first cursor.
  let start: UInt64
  let operations: [RingOperation]

  init(_ bytes: [UInt8]) {
    var input = FuzzInput(bytes)
    let kind = input.byte()
    capacity = 1 << (kind % 5)
    // The places where cursors wrap, and where they exceed the bits that a slot's word keeps.
    let edges: [UInt64] = [0, 1 << 56, 1 << 63, 1 << 31]
    start = edges[Int(kind / 5 % 4)] &- UInt64(input.byte() % 40)
    var operations: [RingOperation] = []
    while !input.isAtEnd { operations.append(RingOperation(input.byte())) }
    self.operations = operations
  }
}
