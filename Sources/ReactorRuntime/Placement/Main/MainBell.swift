import Dispatch
import ReactorCore
import Synchronization

/// Brings a block into the main queue, once until it is unrung: see ``MainLoopHost``.
final class MainBell: Sendable {
  private let isRung = Atomic(false)
  /// Relaxed: a number.
  private let count = Atomic<UInt32>(0)
  /// Besides, where the main queue cannot be watched: readable when rung.
  let event: EventDescriptor?

  init() throws(CoreError) { event = MainQueue.descriptor == nil ? try EventDescriptor() : nil }

  /// How often a block was brought because somebody rang.
  var rings: UInt32 { count.load(ordering: .relaxed) }

  /// Any thread.
  func ring() {
    if !takesOver() { return }
    count.add(1, ordering: .relaxed)
    bringBlock()
  }

  /// Whether it was not rung, and the caller has rung it now.
  func takesOver() -> Bool { !isRung.exchange(true, ordering: .sequentiallyConsistent) }

  /// The block, before it looks for the last time; answers whether it was rung.
  func unring() -> Bool { isRung.exchange(false, ordering: .sequentiallyConsistent) }

  func bringBlock() {
    DispatchQueue.main.async { MainLoopHost.shared.runBlock() }
    event?.signal()
  }
}
