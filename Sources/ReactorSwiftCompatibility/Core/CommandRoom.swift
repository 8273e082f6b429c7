import ReactorCore
import ReactorRuntime
import Synchronization

/// Counts the commands of a core that have been fired and have not begun, so that their number is bounded.
final class CommandRoom: Sendable {
  private let waiting = Atomic(0)
  private let hasRoom: EventCount

  init() {
    do { hasRoom = try EventCount() } catch { fatalError("a Core cannot be made: \(error)") }
  }

  /// Takes a place for a command. If there is none, this waits; but inside of user code, for whose end the commands may
  /// wait, it does not, and has a second limit. Any thread.
  ///
  /// - Returns: The place; nil if that limit is exceeded.
  func takePlace(limit: Int) -> Place? {
    // A loop, since the places that a wake-up has announced may be taken by others.
    let allowed = UserCode.isRunningHere ? 2 * limit : limit
    while !tryTake(allowed) {
      if allowed > limit { return nil }
      _ = hasRoom.wait { waiting.load(ordering: .relaxed) < limit }
    }
    return Place(self)
  }

  // Relaxed, here and below: it counts, and publishes nothing.
  private func tryTake(_ limit: Int) -> Bool {
    var count = waiting.load(ordering: .relaxed)
    while count < limit {
      let (exchanged, original) = waiting.weakCompareExchange(
        expected: count, desired: count + 1, ordering: .relaxed)
      if exchanged { return true }
      count = original
    }
    return false
  }

  /// The place of one command. It is given back once: when the command begins, or when it is gone without having begun.
  final class Place: Sendable {
    private let room: CommandRoom
    private let isTaken = Atomic(true)

    fileprivate init(_ room: CommandRoom) { self.room = room }

    deinit { giveBack() }

    /// Any thread.
    func giveBack() {
      guard isTaken.exchange(false, ordering: .relaxed) else { return }
      room.waiting.wrappingSubtract(1, ordering: .relaxed)
      room.hasRoom.notify()
    }
  }
}
