/// The state that every subject reduces into, and all the work of an action: `count += 1; sum += value`.
///
/// Both totals are compared with what was sent, so no optimiser can drop the work. Passes that check order
/// or record latencies attach an inspector; without one the path is the same but for a branch on nil.
struct Tally: Sendable {
  private(set) var count = 0
  private(set) var sum: UInt64 = 0
  private let inspector: Unmanaged<Inspector>?

  /// The inspector is not retained, so that copying a tally costs nothing; whoever measures keeps it alive.
  init(inspector: Inspector?) {
    self.inspector = inspector.map(Unmanaged.passUnretained)
  }

  @inline(__always)
  mutating func reduce(_ item: Item) {
    if let inspector { inspector._withUnsafeGuaranteedRef { $0.inspect(item) } }
    count &+= 1
    sum &+= item.value
  }

  var totals: Totals { Totals(count: count, sum: sum) }
}

/// What a subject has reduced in all.
struct Totals: Equatable, Sendable {
  var count: Int
  var sum: UInt64
}
