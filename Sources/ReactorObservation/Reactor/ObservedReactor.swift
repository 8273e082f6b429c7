import Glibc
import Observation
import ReactorCore
import ReactorRuntime
import Synchronization

/// The newest state of a reactor, for code that observes its properties one by one.
///
/// ```swift
/// let counter = ObservedReactor(reactor: CounterReactor())
/// withObservationTracking {
///   print(counter.count)        // reads only this property
/// } onChange: {
///   print("count has changed")  // not called when other properties change
/// }
/// counter.send(.increase)
/// ```
///
/// The state is replaced on the main loop, or on the loop that it was made with, once after each turn of the reactor, or less
/// often if the turns follow each other faster than the loop takes their states. If the turn runs on that loop, the state is
/// replaced before the sender goes on. Then the properties that differ are announced: observers are called on the loop, and
/// read the new state. Any thread may read. A ``ReactorObserving`` misses no change. But `withObservationTracking` and
/// `Observations` begin to observe when their closure has returned: on another thread than the loop's, a change that is shown
/// between the read and that moment is not announced to them.
///
/// It retains the reactor.
@dynamicMemberLookup
public final class ObservedReactor<R: Reactor>: Sendable where R.State: ObservableState {
  @usableFromInline let reactor: R
  @usableFromInline let loop: ObservationLoop
  @usableFromInline let shown: SystemMutex<Shown<R.State>>
  /// The readers of ``state`` as a whole.
  @usableFromInline let registrar = ObservationRegistrar()
  @usableFromInline let delivery = Delivery()
  @usableFromInline let subscription: SystemMutex<(any Disposable)?> = SystemMutex(nil)

  /// Begins to show the states of a reactor. Any thread.
  ///
  /// - Parameters:
  ///   - reactor: The reactor.
  ///   - loop: Where new states are shown.
  @inlinable
  public init(reactor: R, on loop: ObservationLoop = .main) {
    self.reactor = reactor
    self.loop = loop
    let first = reactor.currentState
    var state = first
    // From itself: this state and what becomes of it are shown here from now on.
    state._$adopt(from: first)
    // Values inside of it may have come with the readers of another `ObservedReactor` that shows them. Here they get others.
    state._$adopt(from: nil)
    shown = SystemMutex(Shown(state: state))
    let disposable = reactor.state.subscribe(onNext: { [weak self, delivery] _ in
      // Of many mutations in a turn, all but the first end here. Inlinable, so that this is compiled for the type of the state:
      // otherwise a mutation takes 60 ns more.
      let thread = Delivery.currentThread
      if delivery.tryBegin(on: thread) { self?.showAfterTurn(of: thread) }
    })
    subscription.withLock { $0 = disposable }
  }

  deinit { subscription.withLock { $0 }?.dispose() }

  /// Sends an action to the reactor, as `Reactor.send(_:)`. Any thread.
  ///
  /// - Parameter action: The action.
  public func send(_ action: R.Action) { reactor.send(action) }

  /// The newest state that is shown. Any thread.
  ///
  /// A read of it is a read of all of it: it is announced with every new state, even if only an ignored property differs. A read
  /// of a property, such as `observed.count`, is announced only if that changes.
  public var state: R.State {
    registrar.access(self, keyPath: \.state)
    return readShown()
  }

  /// A property of the newest state that is shown. Any thread.
  ///
  /// - Parameter keyPath: The property, which may also be computed. Then it is announced if one of those changes that it reads.
  public subscript<Value>(dynamicMember keyPath: KeyPath<R.State, Value>) -> Value { read(keyPath) }

  func read<Value>(_ keyPath: KeyPath<R.State, Value>) -> Value {
    if !R.State._$announcesProperties { registrar.access(self, keyPath: \.state) }
    let state = readShown()
    // A property that is not stored by the macro, such as a pulse, notes no read itself; nor does a computed one of its pulses.
    state._$access(keyPath)
    return state[keyPath: keyPath]
  }

  /// Returns the state, and makes the runs of the calling thread check at their end what differs from it then.
  private func readShown() -> R.State {
    if let run = ObservingRun.current { return readShown(in: run) }
    return shown.withLock { $0.state }
  }

  /// Apart, since the type of a tuple with a generic state is looked up at the beginning of the function.
  @inline(never)
  private func readShown(in run: ObservingRun) -> R.State {
    let (state, number) = shown.withLock { ($0.state, $0.number) }
    run.note(number, of: self) { { self.announceChanges(since: state, number, to: $0) } }
    return state
  }

  /// Called by the owner of the reactor with the first state of a turn, or at the subscription; or when the action of a binding was
  /// processed or refused.
  @usableFromInline
  func showAfterTurn(of thread: UInt) {
    TurnEndAction { [weak self, delivery] in
      delivery.end(on: thread)
      self?.turnHasEnded()
    }.runAfterTurn()
  }

  private func turnHasEnded() {
    if loop.isCurrent() {
      showNewestState()
    } else if delivery.tryBeginJob() {
      loop.execute { [weak self] in
        guard let self else { return }
        delivery.endJob()
        showNewestState()
      }
    }
  }

  private func showNewestState() {
    let newest = reactor.currentState
    show { _ in newest }
  }

  /// Replaces the state, and announces what differs.
  ///
  /// The announcements come afterwards, so that an observer reads the new state, on any thread. Neither they nor
  /// `next` run inside of the mutex, since both call other code, which may read and send. Two threads may be here at the same
  /// time, because a binding may be set outside of the loop: each announces the differences that it has made.
  private func show(_ next: (R.State) -> R.State) {
    while true {
      let old = shown.withLock { $0 }
      var new = next(old.state)
      new._$adopt(from: old.state)
      let isShown = shown.withLock { [new] shown in
        guard shown.number == old.number else { return false }
        shown.state = new
        shown.number &+= 1
        return true
      }
      if isShown { return announce(new, changesFrom: old.state) }
    }
  }

  private func announce(_ new: R.State, changesFrom old: R.State) {
    _ = new._$announce(changesFrom: old)
    registrar.withMutation(of: self, keyPath: \.state) {}
  }

  /// Announces what differs between a state that was read and the newest one, since the reader was not yet observing when that was
  /// announced. What is shown from here on finds it observing.
  ///
  /// On the loop, as all announcements of what the reactor does: the code that has read the state may run on another one, and others
  /// that have read the same properties are told, too. Once the loop has ended, here.
  private func announceChanges(since old: R.State, _ number: UInt64, to run: ObservingRun) {
    guard shown.withLock({ $0.number != number }) else { return }
    let announceNow: @Sendable () -> Void = {
      // Otherwise it was told of another change meanwhile, and the code runs again anyway.
      if !run.isOver { self.announce(self.shown.withLock { $0.state }, changesFrom: old) }
    }
    if loop.isCurrent() { announceNow() } else { loop.execute(ifEnded: announceNow, announceNow) }
  }
}

extension ObservedReactor: Observation.Observable {}

extension ObservedReactor where R.Action: BindableAction, R.Action.State == R.State {
  /// A property of the newest state that is shown. Setting it shows the new value at once, and sends
  /// ``BindableAction/binding(_:)``. If the reactor makes another value of it, that is shown after its turn; if it reduces nothing,
  /// the value before. Any thread; usually that of the loop.
  ///
  /// - Parameter keyPath: The property.
  public subscript<Value: Sendable>(dynamicMember keyPath: WritableKeyPath<R.State, Value> & Sendable)
    -> Value
  {
    get { read(keyPath) }
    set { showAndSend(newValue, for: keyPath) }
  }

  /// A state inside of the newest state that is shown. Setting a property of it, as in `observed.profile.name = "Ada"`, sets the
  /// state, which is announced when it is shown. Any thread; usually that of the loop.
  ///
  /// - Parameter keyPath: The property that contains it.
  public subscript<Value: ObservableState & Sendable>(
    dynamicMember keyPath: WritableKeyPath<R.State, Value> & Sendable
  ) -> Value {
    get { read(keyPath) }
    set { showAndSend(newValue, for: keyPath) }
    _modify {
      var value = read(keyPath)
      // So that the change in place announces nothing to the readers of what is shown, but for elements of collections.
      value._$adopt(from: nil)
      defer { showAndSend(value, for: keyPath) }
      yield &value
    }
  }

  /// The same of an optional state.
  ///
  /// - Parameter keyPath: The property that contains it.
  public subscript<Value: ObservableState & Sendable>(
    dynamicMember keyPath: WritableKeyPath<R.State, Value?> & Sendable
  ) -> Value? {
    get { read(keyPath) }
    set { showAndSend(newValue, for: keyPath) }
    _modify {
      var value = read(keyPath)
      value?._$adopt(from: nil)
      defer { showAndSend(value, for: keyPath) }
      yield &value
    }
  }

  private func showAndSend<Value: Sendable>(
    _ value: Value, for keyPath: WritableKeyPath<R.State, Value> & Sendable
  ) {
    show { change($0) { $0[keyPath: keyPath] = value } }
    send(.set(keyPath, value))
  }

  /// Changes a part of a property: in the state that is shown, and by an action in the reactor's, which may differ elsewhere.
  ///
  /// - Parameters:
  ///   - keyPath: The property.
  ///   - body: Makes the change. Called with both.
  func changeAndSend<Value: Sendable>(
    _ keyPath: WritableKeyPath<R.State, Value> & Sendable, _ body: @escaping @Sendable (inout Value) -> Void
  ) {
    show { change($0) { body(&$0[keyPath: keyPath]) } }
    send(.change(keyPath, by: body))
  }

  /// Returns a changed copy of a state that is shown.
  private func change(_ old: R.State, _ body: (inout R.State) -> Void) -> R.State {
    var new = old
    // So that its changes have other numbers than those that the reactor makes meanwhile, and announce nothing yet: the
    // differences are announced when the state is shown.
    new._$adopt(from: nil)
    TurnMark.whileReducing { body(&new) }
    return new
  }

  private func send(_ assignment: BindingAction<R.State>) {
    reactor.send(.binding(assignment)) { [weak self, delivery] in
      // Also if nothing is reduced, since the value that is shown is not the reactor's. But a stub reduces nothing at all: the
      // value remains until the test sets a state.
      guard let self, !reactor.isStubEnabled else { return }
      let thread = Delivery.currentThread
      if delivery.tryBegin(on: thread) { showAfterTurn(of: thread) }
    }
  }
}

/// A state that is shown.
@usableFromInline
struct Shown<State: Sendable>: Sendable {
  @usableFromInline var state: State
  /// How many states were shown before.
  var number: UInt64 = 0

  @usableFromInline init(state: State) { self.state = state }
}

/// Which deliveries of new states are under way. All of them read the newest state when they are made, so one is enough for any
/// number of states.
@usableFromInline
final class Delivery: Sendable {
  /// The thread at the end of whose turn a delivery is made, or 0. Another thread that reduces meanwhile needs one of its own:
  /// the first may be made before that thread's turn has ended.
  ///
  /// Relaxed: only whether a thread finds itself here matters, and that is decided by what it has stored itself.
  @usableFromInline let thread = Atomic<UInt>(0)
  /// Whether a job waits on the loop.
  ///
  /// Acquiring and releasing: the end of a job comes before its read of the newest state. So a turn that still finds it under
  /// way has shown its state to that read.
  private let hasJob = Atomic(false)

  @usableFromInline init() {}

  @inlinable static var currentThread: UInt { UInt(pthread_self()) }

  @inlinable
  func tryBegin(on current: UInt) -> Bool {
    if thread.load(ordering: .relaxed) == current { return false }
    thread.store(current, ordering: .relaxed)
    return true
  }

  func end(on current: UInt) {
    _ = thread.compareExchange(expected: current, desired: 0, ordering: .relaxed)
  }

  func tryBeginJob() -> Bool { !hasJob.exchange(true, ordering: .acquiringAndReleasing) }

  func endJob() { _ = hasJob.exchange(false, ordering: .acquiringAndReleasing) }
}
