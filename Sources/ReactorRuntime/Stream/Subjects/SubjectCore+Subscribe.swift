import ReactorCore

/// Subscribing, which may race with deliveries.
///
/// Who subscribes is told at once what there is to replay, before ``subscribe(_:)`` returns, and then each
/// later event. While it is told, it must be told nothing else. There are three cases:
///
/// 1. Nobody delivers: the subscribing thread becomes the handler, so the others' events queue up behind it.
/// 2. The subscribing thread is the handler, because an observer subscribes: then nobody else delivers.
/// 3. Another thread delivers: then the new observer gets a serializer of its own, in which the replay comes
///    first. It does not wait for that thread, nor that thread for it.
extension SubjectCore {
  private struct Admission: Sendable {
    /// Nil if there is nothing to end.
    let key: UInt64?
    let replay: [Event<Element>]
    var isHandler = false
  }

  private enum Arrival: Sendable {
    case first(@Sendable () -> [Event<Element>])
    case event(Event<Element>)
  }

  /// Starts a subscription. Any thread.
  ///
  /// What is answered does not retain this: an observer that is never disposed goes away with its subject.
  func subscribe(_ observer: AnyObserver<Element>) -> any Disposable {
    let me = CurrentCore.threadToken
    let admission: Admission? = state.withLock { state in
      let othersDeliver = state.handler != 0 && state.handler != me
      if othersDeliver, state.stopEvent == nil, !state.recent.isEmpty { return nil }
      var admission = admit(observer, to: &state)
      if state.handler == 0, admission.key != nil, !admission.replay.isEmpty {
        state.handler = me
        admission.isHandler = true
      }
      return admission
    }
    guard let admission else { return subscribeBesideHandler(observer) }
    for event in admission.replay { observer.on(event) }
    if admission.isHandler { drain() }
    return subscription(admission.key)
  }

  private func subscribeBesideHandler(_ observer: AnyObserver<Element>) -> any Disposable {
    let subscription = SingleAssignmentDisposable()
    let order = Serializer<Void, Arrival>(()) { _, arrival in
      switch arrival {
      case .first(let admit): for event in admit() { observer.on(event) }
      case .event(let event): observer.on(event)
      }
    }
    // Nobody else knows the serializer yet, so this is handled now, here, and whatever comes meanwhile waits
    // in it.
    order.submit(
      .first { [self] in
        let serialized = AnyObserver<Element> { order.submit(.event($0)) }
        let admission = state.withLock { admit(serialized, to: &$0) }
        // Weak, because the observer may hold the subscription.
        let closing = Disposables.create { [weak order] in order?.dispose() }
        subscription.hold(Disposables.create(self.subscription(admission.key), closing))
        return admission.replay
      })
    return subscription
  }

  private func admit(_ observer: AnyObserver<Element>, to state: inout State) -> Admission {
    if let stopEvent = state.stopEvent {
      let recent = replaysAfterEnd ? state.recent.all : []
      return Admission(key: nil, replay: recent.map { .next($0) } + [stopEvent])
    }
    state.lastKey += 1
    state.members.append(Member(key: state.lastKey, since: state.lastNumber, observer: observer))
    return Admission(key: state.lastKey, replay: state.recent.all.map { .next($0) })
  }

  private func subscription(_ key: UInt64?) -> any Disposable {
    guard let key else { return Disposables.create() }
    return Disposables.create { [weak self] in self?.remove(key) }
  }

  /// O(n) in the number of observers.
  private func remove(_ key: UInt64) {
    let removed: Member? = state.withLock { state in
      guard let index = state.index(of: key) else { return nil }
      return state.members.remove(at: index)
    }
    // Its observer, maybe the last reference to what it captures, is destroyed here, after the lock.
    _ = consume removed
  }
}

extension SubjectCore.State {
  /// Where the member of that key is; nil if it is no longer there. By bisection.
  fileprivate func index(of key: UInt64) -> Int? {
    var (low, high) = (0, members.count)
    while low < high {
      let middle = (low + high) / 2
      if members[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return low < members.count && members[low].key == key ? low : nil
  }
}
