/// Something that is done when the state of a turn is shown: an element of a list that needs no other memory.
///
/// An element is in one list at most. The list retains it.
open class TurnEnd: @unchecked Sendable {
  // Unchecked: only the thread that runs the turn, or what follows the turn, accesses the link. `@exclusivity(unchecked)`
  // because a check in release builds costs more than the access.
  @exclusivity(unchecked) final var earlier: Unmanaged<TurnEnd>?

  /// Creates an element that is in no list.
  public init() {}

  /// Does it. The thread that ran the turn; it owns no reactor then, except that a loop keeps those that it runs.
  open func run() {}

  /// Whether this waits for a journal even if the other ends of the turn do not.
  open var waitsForJournal: Bool { false }

  /// Whether no journal holds this back, since it tells of nothing that the turn has changed.
  open var isSettled: Bool { false }

  /// Called in place of ``run()`` if a journal cannot make the turn durable. The default calls ``run()``. A thread that owns no
  /// reactor.
  open func refuse(_ error: any Error) { run() }

  /// Calls ``run()`` when the innermost turn of the calling thread has ended and its state is shown; at once if the
  /// thread is inside of no turn.
  ///
  /// A turn that runs inside of another turn, or inside of ``run()`` of another element, leaves its elements to that. So
  /// this never calls ``run()`` recursively, and never while the thread owns a reactor on its stack.
  public final func runAfterTurn() {
    if let ends = TurnMark.innermost { ends.append(self) } else { run() }
  }

  /// Whether ``runAfterTurn()`` on the calling thread would wait for something: the end of a turn, or of what runs after one.
  public static var mustWait: Bool { TurnMark.innermost != nil }

  /// As ``runAfterTurn()``; but what ``run()`` adds itself runs after it even outside of turns, so that a chain of them does
  /// not nest. Outside of turns, the thread is marked as inside of one meanwhile.
  public final func runInSequence() { TakenTurnEnds(newest: .passRetained(self)).run() }
}

/// A ``TurnEnd`` that calls a closure.
public final class TurnEndAction: TurnEnd, @unchecked Sendable {
  // Unchecked like its superclass; the closure is constant.
  private let body: @Sendable () -> Void

  /// Creates an element that calls `body`.
  public init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  override public func run() { body() }
}

/// A ``TurnEnd`` that calls a closure, and that no journal holds back: it tells of nothing that the turn has changed.
package final class SettledTurnEnd: TurnEnd, @unchecked Sendable {
  // Unchecked like its superclass; the closure is constant.
  private let body: @Sendable () -> Void

  package init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  override package var isSettled: Bool { true }

  override package func run() { body() }
}

extension TurnMark {
  /// Calls `body` inside of a turn that has a list of its own: for an owner that must not touch that of its reactor, since another
  /// thread may be counting there what it sends to it.
  ///
  /// - Returns: What `body` has left for the end of the turn. The calling thread runs it.
  public static func collectingEnds(_ body: () -> Void) -> TakenTurnEnds {
    var fields = TurnEnds.Fields()
    return withUnsafeMutablePointer(to: &fields) { fields in
      let ends = TurnEnds(fields)
      let outer = enter(ends)
      body()
      leave(outer)
      return ends.take()
    }
  }
}

/// The elements of a turn that has ended.
public struct TakenTurnEnds: ~Copyable, Sendable {
  private let newest: Unmanaged<TurnEnd>?

  init(newest: Unmanaged<TurnEnd>?) { self.newest = newest }

  /// Whether there are none.
  public var isEmpty: Bool { newest == nil }

  /// How many elements there are. O(that number).
  public var count: Int {
    var (count, next) = (0, newest)
    while let end = next {
      count += 1
      next = end._withUnsafeGuaranteedRef { $0.earlier }
    }
    return count
  }

  /// Runs the elements, in the order in which they were added; or leaves them to the turn that the calling thread is
  /// inside of. The thread that took them; outside of the ownership, so that other code may run.
  ///
  /// While they run, the thread is marked as inside of a turn: a send does not wait for room.
  public consuming func run() {
    guard let newest else { return }
    if let outer = TurnMark.innermost {
      Self.forEach(Self.reversed(newest)) { outer.append($0) }
    } else {
      ThreadScope.leaveAll { Self.runAll(newest) }
    }
  }

  /// Runs the elements inside of ``TurnEnd/run()`` of another one, so before what comes after that.
  package consuming func runInPlace() {
    if let newest { Self.forEach(Self.reversed(newest)) { $0.run() } }
  }

  /// Calls ``TurnEnd/refuse(_:)`` of the elements, in the order in which they were added. A thread that is inside of no turn.
  public consuming func refuse(_ error: any Error) {
    guard let newest else { return }
    let outer = TurnMark.enter()
    ThreadScope.leaveAll { Self.forEach(Self.reversed(newest)) { $0.refuse(error) } }
    TurnMark.leave(outer)
  }

  private static func runAll(_ newest: Unmanaged<TurnEnd>) {
    var fields = TurnEnds.Fields()
    withUnsafeMutablePointer(to: &fields) { fields in
      // What they add comes here, too, and is run next.
      let ends = TurnEnds(fields)
      let outer = TurnMark.enter(ends)
      forEach(reversed(newest)) { $0.run() }
      while let newest = fields.pointee.newest {
        fields.pointee.newest = nil
        forEach(reversed(newest)) { $0.run() }
      }
      TurnMark.leave(outer)
    }
  }

  /// Turns the links of a list around, and returns its first element.
  private static func reversed(_ newest: Unmanaged<TurnEnd>) -> Unmanaged<TurnEnd> {
    var (last, next) = (Unmanaged<TurnEnd>?.none, Optional(newest))
    while let end = next {
      next = end._withUnsafeGuaranteedRef { object in
        defer { object.earlier = last }
        return object.earlier
      }
      last = end
    }
    return last.unsafelyUnwrapped
  }

  /// Whether a list has an element that no journal holds back. O(number of elements).
  static func hasSettled(_ newest: Unmanaged<TurnEnd>) -> Bool {
    var next = Optional(newest)
    while let end = next {
      if end._withUnsafeGuaranteedRef({ $0.isSettled }) { return true }
      next = end._withUnsafeGuaranteedRef { $0.earlier }
    }
    return false
  }

  /// Calls `body` with each element of a list, the earliest first, and releases it afterwards.
  static func forEachInOrder(_ newest: Unmanaged<TurnEnd>, _ body: (TurnEnd) -> Void) {
    forEach(reversed(newest), body)
  }

  private static func forEach(_ first: Unmanaged<TurnEnd>, _ body: (TurnEnd) -> Void) {
    var next = Optional(first)
    while let end = next {
      let object = end.takeRetainedValue()
      next = object.earlier
      object.earlier = nil
      body(object)
    }
  }
}
