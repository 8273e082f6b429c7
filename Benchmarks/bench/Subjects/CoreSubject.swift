import ReactorSwiftCompatibility

/// The item as an event of ReactorSwift's API.
struct ItemEvent: Event {
  let item: Item
}

/// The tally as a state of ReactorSwift's API. The cast is the user's work in each implementation of it.
struct TallyState: State {
  private(set) var tally: Tally

  mutating func react(to event: any Event) {
    if let event = event as? ItemEvent { tally.reduce(event.item) }
  }
}

/// A state that reduces events without a core or a queue: what that takes of the thread that reduces, at least.
///
/// `@unchecked Sendable`: one thread sends, and another one reads the totals afterwards.
final class DirectEventBaseline: FanInSubject, @unchecked Sendable {
  private let state: Placed<TallyState>

  init(_ setup: SubjectSetup) { state = Placed(TallyState(tally: Tally(inspector: setup.inspector))) }

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values { react(to: ItemEvent(item: Item(producer: UInt64(producer), value: value))) }
  }

  /// Not inlined: otherwise the type of the event would be known, and the cast would cost nothing.
  @inline(never)
  private func react(to event: any Event) { state.value.react(to: event) }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try quota.awaitProducers()
    return state.value.tally.totals
  }
}

/// A core of `ReactorSwiftCompatibility` without subscribers.
final class CoreSubject: FanInSubject {
  private final class Nobody: Subscriber {
    func update(with state: TallyState) {}
  }

  /// The core makes its loop itself.
  static var floats: Bool { true }

  private let core: Core<TallyState>

  init(_ setup: SubjectSetup) { core = Core(state: TallyState(tally: Tally(inspector: setup.inspector))) }

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values { core.fire(event: ItemEvent(item: Item(producer: UInt64(producer), value: value))) }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try quota.awaitProducers()
    // It returns when all that was fired before is processed.
    core.remove(subscriber: Nobody())
    return core.state.tally.totals
  }
}
