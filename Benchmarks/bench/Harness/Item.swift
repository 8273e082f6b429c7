/// What every case sends: 16 bytes, of which the value counts up per producer from 0.
struct Item: Sendable {
  var producer: UInt64
  var value: UInt64
}
