import Dispatch
import ReactorCore
import ReactorRuntime

/// What a core's reactor is sent.
@usableFromInline
enum CoreAction<StateType: State>: Sendable {
  case event(any Event)
  /// Hands a command over to its queue.
  case command(@Sendable (StateType) -> Void)
  case add(Registration<StateType>, Announcement)
  case remove(Departure)
}

/// The reactor that a ``Core`` is: its state is the core's, and each event is one mutation.
///
/// Updates and middlewares come after `reduce`, from an observer of ``ReactorRuntime/Reactor/state``. By then every thread reads
/// the state that they are given. A core without subscribers and middlewares has no observer, and does not pay for one;
/// but after an `add` that was refused it has one until the next `add` or `remove`.
@usableFromInline
final class CoreReactor<StateType: State>: ReactorRuntime.Reactor {
  /// The one limit of a core: how many events may wait. `fire` documents what happens then.
  static var capacity: Int { 65_536 }

  @usableFromInline let initialState: StateType
  @usableFromInline let runtime: Runtime<CoreAction<StateType>, Reaction, StateType>
  // The next three belong to the owner of the reactor, which is the core's thread.
  /// The event that is being processed.
  @usableFromInline let event = OwnerIsolated<(any Event)?>(nil)
  @usableFromInline let hasAudience: OwnerIsolated<Bool>
  private let audience: OwnerIsolated<Audience<StateType>>
  private let table: SubscriberTable<StateType>
  private let observation = StateObservation()

  init(_ state: StateType, _ middlewares: [Middlewares<StateType>], _ table: SubscriberTable<StateType>) {
    let loop: Loop
    do { loop = try Loop(name: "reactor.core") } catch { fatalError("a Core cannot be made: \(error)") }
    initialState = state
    // On demand, so that what one event has changed can be read before the next one.
    runtime = Runtime(on: .loop(loop), snapshots: .onDemand, capacity: Self.capacity)
    audience = OwnerIsolated(Audience(middlewares: middlewares))
    hasAudience = OwnerIsolated(!middlewares.isEmpty)
    self.table = table
    // For ever, so that middlewares are called to the end.
    if !middlewares.isEmpty {
      observation.expect()
      observe()
    }
  }

  @inlinable
  func mutate(action: CoreAction<StateType>) -> Observable<Reaction> {
    guard case .event(let event) = action else {
      handle(action)
      return .empty()
    }
    self.event.value = event
    return .just(Reaction())
  }

  @inlinable
  func reduce(into state: inout StateType, mutation: Reaction) {
    if hasAudience.value {
      if let event = event.value { state.react(to: event) }
    } else if let event = event.value.take() {
      state.react(to: event)
    }
  }

  /// Handles what is no event. The owner.
  @usableFromInline
  @inline(never)
  func handle(_ action: CoreAction<StateType>) {
    switch action {
    case .event: break
    case .command(let start): start(currentState)
    case .add(let registration, let announcement):
      if registration.isRemoved {
        announcement.withdraw()
        return sweep()
      }
      // No look at all the others each time: many may come one after the other.
      if audience.value.registrations.count >= audience.value.sweepLimit { sweep() }
      audience.value.registrations.append(registration)
      hasAudience.value = true
      // Not before: the sweep would end the observation if all the others are gone.
      announcement.withdraw()
      // The observer may have been refused.
      observe()
      registration.notify(of: currentState, in: table)
    case .remove(let departure):
      sweep()
      departure.follow()
    }
  }

  /// Makes sure that ``notify(of:)`` is called after each event that is sent from now on, until the registration that is sent
  /// next, with the result, has arrived and the audience is empty again. Any thread.
  func announceRegistration() -> Announcement {
    let announcement = Announcement(to: observation)
    observe()
    return announcement
  }

  /// Observes the state, unless that is done. Any thread.
  ///
  /// Threads that do this at once may observe twice for a moment. That does no harm, since the first call for an event takes
  /// the event.
  private func observe() {
    if observation.isRunning { return }
    let attempt = StateObservation.Attempt()
    // Not under the lock, since this may wait for the owner, which takes it. Not a reference: the observer belongs to the
    // runtime, and so to this. While the owner calls it, the reactor is alive.
    let subscription = state.subscribe(
      onNext: { [unowned self] state in notify(of: state) },
      // There was no room for the observer. The next registration observes anew.
      onError: { [weak observation] error in
        observation?.forget(attempt)
        Hooks.defaultErrorHandler(error)
      })
    observation.keep(subscription, of: attempt)?.dispose()
  }

  /// Whether the state is observed. Any thread.
  var isObserved: Bool { observation.isRunning }

  /// Updates the subscribers, then calls the middlewares. The owner, after each event.
  private func notify(of state: StateType) {
    guard let event = event.value.take() else { return }
    // Nothing of this changes inside: what the middlewares add or remove is an action of its own.
    var mustSweep = false
    for registration in audience.value.registrations {
      if registration.isRemoved { mustSweep = true } else { registration.notify(of: state, in: table) }
    }
    if mustSweep { sweep() }
    for middleware in audience.value.middlewares {
      middleware.middleware._process(event: event, state: state)
    }
  }

  /// Releases the subscriptions that were removed. The owner.
  private func sweep() {
    audience.value.registrations.removeAll { $0.isRemoved }
    audience.value.sweepLimit = max(16, 2 * audience.value.registrations.count)
    hasAudience.value = !audience.value.middlewares.isEmpty || !audience.value.registrations.isEmpty
    if !hasAudience.value { observation.endUnlessExpected()?.dispose() }
  }
}

/// The mutation of a core: the state reacts to the event. It does not contain the event, which would be copied several times on
/// its way; copying an `any Event` takes longer than the rest of that way.
@usableFromInline
struct Reaction: Sendable {
  @usableFromInline init() {}
}

/// What a core's events are told to.
struct Audience<StateType: State>: Sendable {
  let middlewares: [Middlewares<StateType>]
  /// Those that were removed stay here until the next event or removal, or until there are as many as the limit.
  var registrations: [Registration<StateType>] = []
  var sweepLimit = 16
}

/// Announces that all that was fired before a removal is done: the events, and the commands, if those are waited for.
///
/// It does so when the last reference to it is gone. So a thread that waits for it also returns if the action was not delivered.
@usableFromInline
final class Departure: Sendable {
  private let commands: DispatchQueue?
  private let isOver: DispatchSemaphore

  init(behind commands: DispatchQueue?, signaling isOver: DispatchSemaphore) {
    (self.commands, self.isOver) = (commands, isOver)
  }

  deinit { isOver.signal() }

  /// Comes behind the commands that were fired before. The owner.
  func follow() { commands?.async { [self] in withExtendedLifetime(self) {} } }
}
