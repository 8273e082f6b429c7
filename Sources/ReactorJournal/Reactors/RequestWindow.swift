/// The identifiers of the last requests of a reactor, in the order in which they were processed.
struct RequestWindow: Sendable {
  private let limit: Int
  private var known: Set<UInt128> = []
  /// A ring; `next` is the oldest one if it is full.
  private var order: [UInt128] = []
  private var next = 0

  init(limit: Int) { self.limit = limit }

  func contains(_ id: UInt128) -> Bool { known.contains(id) }

  /// Adds an identifier, and forgets the oldest one if there are too many. O(1).
  mutating func insert(_ id: UInt128) {
    guard limit > 0, known.insert(id).inserted else { return }
    if order.count < limit { return order.append(id) }
    known.remove(order[next])
    order[next] = id
    next = (next + 1) % limit
  }

  func encode(into encoder: inout RecordEncoder) {
    encoder.append(varint: UInt64(order.count))
    for id in order[next...] + order[..<next] { encoder.append(id) }
  }

  init(limit: Int, from decoder: inout RecordDecoder) throws(MalformedRecord) {
    self.init(limit: limit)
    for _ in 0..<(try decoder.readVarint()) { insert(try decoder.read()) }
  }
}
