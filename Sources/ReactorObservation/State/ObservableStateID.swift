import Synchronization

/// The identity of a state: equal for copies of one value, and different after a change of one of them.
///
/// It compares two states in constant time, whether or not they are `Equatable`: equal identities mean that nothing that is
/// tracked differs. Different ones need not, since two states that were made or changed separately never have the same.
public struct ObservableStateID: Hashable, Sendable {
  /// Which value this one was copied from; never 0.
  @usableFromInline let lineage: UInt64
  /// Which change made it; 0 is none.
  @usableFromInline var version: UInt64
  /// The cases of an enum, and of the enums around it; 0 for a struct.
  @usableFromInline var caseNumber: UInt64

  /// A number for each lineage. One for each state that is made rather than copied, so that a shared counter costs little.
  /// Relaxed: the numbers only have to differ.
  private static let lastLineage = Atomic<UInt64>(0)

  /// Creates an identity that no other has. Any thread.
  public init() {
    lineage = Self.lastLineage.wrappingAdd(1, ordering: .relaxed).newValue
    version = 0
    caseNumber = 0
  }

  /// The identity of a case without values: the same each time. Called by what `@ObservableState` generates.
  ///
  /// - Parameter index: The index of the case.
  public init(_case index: Int) {
    lineage = 0
    version = 0
    caseNumber = UInt64(index) + 1
  }

  /// The identity of a case whose only value has this one. Different cases have different ones, and so have different cases of
  /// an enum inside: the numbers of the cases are the digits of one number, from 1 to `count`, the innermost first. If it does not
  /// fit, as in a deep tree, no two are the same.
  @inlinable
  func tagged(_ index: Int, of count: Int) -> Self {
    let (digits, overflow) = caseNumber.multipliedReportingOverflow(by: UInt64(count))
    let (number, isTooLarge) = digits.addingReportingOverflow(UInt64(index) + 1)
    if overflow || isTooLarge { return ObservableStateID() }
    var tagged = self
    tagged.caseNumber = number
    return tagged
  }
}
