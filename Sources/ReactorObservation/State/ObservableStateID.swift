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
  /// The case of an enum plus 1; 0 for a struct.
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

  @inlinable
  func tagged(_ index: Int) -> Self {
    var tagged = self
    tagged.caseNumber = UInt64(index) + 1
    return tagged
  }
}
