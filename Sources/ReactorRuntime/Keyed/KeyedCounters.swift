/// What has happened to the keys of ``KeyedReactors``.
public struct KeyedCounters: Sendable, Hashable, CustomStringConvertible {
  /// The keys that have a reactor, or for which one is being made or ended.
  public var count = 0
  /// Those of ``count`` whose reactors are being ended. They do not count against the limit.
  public var ending = 0
  /// The reactors that were made.
  public var made = 0
  /// The reactors that have ended, and whose states were kept.
  public var passivated = 0
  /// The reactors that have ended because their keys were removed.
  public var removed = 0
  /// The actions, requests and removals that wait for a reactor which is being made or ended.
  public var waiting = 0

  @usableFromInline
  init() {}

  @inlinable
  mutating func add(_ other: KeyedCounters) {
    count += other.count
    ending += other.ending
    made += other.made
    passivated += other.passivated
    removed += other.removed
    waiting += other.waiting
  }

  public var description: String {
    "count \(count), ending \(ending), made \(made), passivated \(passivated), removed \(removed), waiting \(waiting)"
  }
}

extension KeyedShard {
  @inlinable
  var counters: KeyedCounters {
    var counters = tally
    counters.count = count
    for transition in transitions.values {
      if transition.isEnding { counters.ending += 1 }
      counters.waiting += transition.waiting.count
    }
    return counters
  }

  var keys: [Key] { slots.compactMap { $0?.key } }
}
