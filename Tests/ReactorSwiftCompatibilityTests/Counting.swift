import Dispatch
import Glibc
import ReactorSwiftCompatibility
import TestSupport

import class ReactorCore.SystemMutex

/// The state of most tests here: the numbers that were added, in order.
struct Counting: State {
  var numbers: [Int] = []

  mutating func react(to event: any Event) {
    if let event = event as? Add { numbers.append(event.number) }
    if event is Pause { sleep(milliseconds: 20) }
  }
}

struct Add: Event {
  let number: Int
}

/// Takes some time.
struct Pause: Event {}

/// Changes nothing.
struct Nothing: Event {}

/// Calls closures.
struct Calling<StateType: State>: Command {
  let body: @Sendable (StateType, Core<StateType>) -> Void

  func execute(state: StateType, core: Core<StateType>) { body(state, core) }
}

struct Processing<StateType: Sendable>: Middleware {
  let body: @Sendable (any Event, StateType) -> Void

  init(_ body: @escaping @Sendable (any Event, StateType) -> Void) { self.body = body }

  func process(event: any Event, state: StateType) { body(event, state) }
}

/// Records what it is given.
final class Recorder<StateType: Sendable>: Subscriber {
  let states = Record<StateType>()
  private let onUpdate: @Sendable (StateType) -> Void

  init(_: StateType.Type = StateType.self, _ onUpdate: @escaping @Sendable (StateType) -> Void = { _ in }) {
    self.onUpdate = onUpdate
  }

  func update(with state: StateType) {
    states.append(state)
    onUpdate(state)
  }
}

extension Recorder where StateType == Counting {
  /// The number of numbers in each state.
  var counts: [Int] { states.elements.map(\.numbers.count) }
}

/// A queue for updates, and a way to wait until those that are on it have been run.
struct UpdateQueue {
  let queue = DispatchQueue(label: "updates of a test")

  func drain() { queue.sync {} }
}

extension Core where StateType == Counting {
  /// Returns when everything that was fired before has been processed.
  func settle() { remove(subscriber: Recorder<Int>()) }
}

/// Lets a middleware reach the core that is made with it.
final class WeakCore: Sendable {
  private struct Reference: Sendable {
    weak var core: Core<Counting>?
  }

  private let reference = SystemMutex(Reference())

  var core: Core<Counting>? {
    get { reference.withLock { $0.core } }
    set { reference.withLock { $0.core = newValue } }
  }
}

func sleep(milliseconds: UInt32) { usleep(1000 * milliseconds) }
