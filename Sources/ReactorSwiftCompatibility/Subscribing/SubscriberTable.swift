import ReactorCore

/// The subscriptions of a core, by subscriber. The core's thread has a list of its own; this is for all other threads.
///
/// With it a removal has its effect at once, although the core's thread may be busy, and does not wait where that would be
/// a deadlock.
@usableFromInline
final class SubscriberTable<StateType: State>: Sendable {
  private struct Entries {
    var registrations: [ObjectIdentifier: Registration<StateType>] = [:]
    /// The number of entries at which those of dead subscribers are looked for: so that costs O(1) per addition.
    var limit = 16

    /// The caller has a reference: what a selector has captured must not be released under the lock.
    mutating func remove(_ registration: Registration<StateType>) {
      if registrations[registration.key] === registration { registrations[registration.key] = nil }
    }
  }

  private let entries = SystemMutex(Entries())

  /// Adds a subscription; returns nil if the subscriber has one already. Any thread; amortized O(1).
  func add(_ subscription: Subscription<StateType>, of subscriber: any AnySubscriber) -> Registration<
    StateType
  >? {
    let registration = Registration(subscription, of: ObjectIdentifier(subscriber))
    var earlier: Registration<StateType>?
    let (isAdded, isFull) = entries.withLock { entries in
      earlier = entries.registrations[registration.key]
      // Otherwise it is of a dead subscriber that was at the same address. (This takes no reference to another object.)
      if earlier?.subscription.subscriber === subscriber { return (false, false) }
      entries.registrations[registration.key] = registration
      return (true, entries.registrations.count >= entries.limit)
    }
    if !isAdded { return nil }
    earlier?.remove()
    if isFull { dropDead() }
    return registration
  }

  /// Removes the subscription of a subscriber, which may be in its `deinit`. Any thread.
  func remove(_ subscriber: any AnySubscriber) {
    let removed = entries.withLock { $0.registrations.removeValue(forKey: ObjectIdentifier(subscriber)) }
    removed?.remove()
  }

  /// Removes a subscription whose subscriber is gone. Any thread; O(1).
  func drop(_ registration: Registration<StateType>) {
    registration.remove()
    entries.withLock { $0.remove(registration) }
  }

  /// Removes the subscriptions of all subscribers that are gone. Not under the lock, since the last reference to a subscriber
  /// may be released here, and its `deinit` may do anything.
  private func dropDead() {
    let dead = entries.withLock { Array($0.registrations.values) }.filter(\.isDead)
    for registration in dead { registration.remove() }
    entries.withLock { entries in
      for registration in dead { entries.remove(registration) }
      entries.limit = max(16, 2 * entries.registrations.count)
    }
  }

  /// How many subscriptions there are. Any thread.
  var count: Int { entries.withLock { $0.registrations.count } }
}
