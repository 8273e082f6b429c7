import Dispatch
import ReactorCore
import Synchronization

/// One subscription of a core, from ``Core/add(subscriber:notifyOnQueue:selector:)`` until it is removed.
///
/// The core's thread never takes a reference to the subscriber. Otherwise it could have the last one, and the subscriber, such
/// as a view, would be destroyed there.
@usableFromInline
final class Registration<StateType: State>: Sendable {
  let subscription: Subscription<StateType>
  /// The subscriber's address. Another one may have it once the subscriber is gone.
  let key: ObjectIdentifier
  private let wasRemoved = Atomic(false)

  init(_ subscription: Subscription<StateType>, of key: ObjectIdentifier) {
    (self.subscription, self.key) = (subscription, key)
  }

  /// Whether the subscriber must not be updated any more. Any thread.
  ///
  /// Relaxed: a thread that removes it on the queue of the updates sees its own store there.
  var isRemoved: Bool { wasRemoved.load(ordering: .relaxed) }

  /// Any thread.
  func remove() { wasRemoved.store(true, ordering: .relaxed) }

  /// Whether the subscriber is gone. Not under a lock, and not on the core's thread: this may release the last reference.
  var isDead: Bool { subscription.subscriber == nil }

  /// Updates the subscriber on its queue. The core's thread.
  func notify(of state: StateType, in table: SubscriberTable<StateType>) {
    subscription.notifyQueue.async { [self] in
      UserCode.run {
        if !isRemoved, !tryUpdate(with: state) { table.drop(self) }
      }
    }
  }

  private func tryUpdate(with state: StateType) -> Bool {
    guard let subscriber = subscription.subscriber else { return false }
    if let selector = subscription.selector {
      let part = selector(state)
      // The selector may have taken long.
      if !isRemoved { subscriber._update(with: part) }
    } else {
      subscriber._update(with: state)
    }
    return true
  }
}

/// Marks that the calling thread is inside of an update or a command of any core.
final class UserCode: Sendable {
  private static let mark = UserCode()
  private static let queueKey = DispatchSpecificKey<Bool>()

  static func run(_ body: () -> Void) { ThreadScope.enter(mark, body) }

  /// Makes a queue for commands. All that runs there is inside of a command, also the `deinit` of what a command had the last
  /// reference to, which runs when ``run(_:)`` has returned and the queue is still occupied.
  static func makeCommandQueue() -> DispatchQueue {
    let queue = DispatchQueue(label: "reactor.core.commands", qos: .userInitiated)
    queue.setSpecific(key: queueKey, value: true)
    return queue
  }

  /// Whether the calling thread is inside of an update, a command, or a middleware (which runs in a turn).
  static var isRunningHere: Bool {
    // The scope as well: a command may wait for code on another queue, which has no key.
    TurnMark.isSet || ThreadScope.innermost(UserCode.self) != nil
      || DispatchQueue.getSpecific(key: queueKey) == true
  }
}
