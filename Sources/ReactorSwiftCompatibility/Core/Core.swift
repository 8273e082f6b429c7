import Dispatch
import ReactorRuntime

/// Holds the state, and changes it by one event after the other, on a thread of its own.
///
/// | | thread | when |
/// |---|---|---|
/// | ``State/react(to:)``, ``Middleware`` | the core's thread | one event at a time, in the order of `fire` |
/// | ``Command`` | a serial queue of the core's | one command at a time, in the order of `fire` |
/// | ``Subscriber/update(with:)``, selectors | the queue that was given to ``add(subscriber:notifyOnQueue:selector:)`` | after each event |
///
/// All methods may be called on any thread, also inside of updates, commands and middlewares. The core may go away while
/// events wait: they are processed first.
public final class Core<StateType: State>: Sendable {
  @usableFromInline let reactor: CoreReactor<StateType>
  let table = SubscriberTable<StateType>()
  private let commandRoom = CommandRoom()
  /// Runs the commands.
  private let commands = UserCode.makeCommandQueue()
  /// Updates the subscribers that were added without a queue.
  private let updates = DispatchQueue(label: "reactor.core.updates", qos: .userInitiated)

  /// Makes a core, and starts its thread. Stops the program with a message if there is no memory.
  ///
  /// - Parameters:
  ///   - state: The state before the first event.
  ///   - middlewares: What receives each event, in this order.
  public init(state: StateType, middlewares: [any AnyMiddleware] = []) {
    reactor = CoreReactor(state, middlewares.map { Middlewares(middleware: $0) }, table)
  }

  /// A whole state: the one after the last event. Any thread; it waits for the end of a running
  /// ``State/react(to:)``.
  ///
  /// - Complexity: One copy of the state.
  @inlinable
  public var state: StateType { reactor.currentState }
}

extension Core {
  /// Fires an event: the state reacts to it, then subscribers are updated and middlewares called. Returns before that,
  /// usually. Any thread.
  ///
  /// Up to 65,536 events and commands wait. If there is no room, this waits. Inside of a middleware it does not wait; there up to
  /// 65,536 further ones are kept, and what exceeds that is reported to `Hooks.defaultFailureHandler` of ReactorRuntime, by
  /// default to standard error.
  ///
  /// - Complexity: O(1). An event of at most three words is not allocated.
  @inlinable
  @inline(never)
  public func fire(event: any Event) { reactor.send(.event(event)) }

  /// Fires a command: it gets the state after all that was fired before. Any thread.
  ///
  /// Up to 65,536 commands wait until those before them have been executed. If there is no room, this waits. Inside of a command,
  /// an update or a middleware it does not wait; there up to 65,536 further ones are kept, and what exceeds that is reported as
  /// ``fire(event:)`` says.
  public func fire<C: Command>(command: C) where C.StateType == StateType {
    guard let place = commandRoom.takePlace(limit: CoreReactor<StateType>.capacity) else {
      return Hooks.defaultFailureHandler(
        Failure(
          reactor: String(reflecting: CoreReactor<StateType>.self), cause: .actionNotDelivered(.full),
          action: command))
    }
    reactor.send(
      .command { [self] state in
        commands.async {
          place.giveBack()
          UserCode.run { command.execute(state: state, core: self) }
        }
      })
  }
}

extension Core {
  /// Adds a subscriber: it is updated at once, with the state after all that was fired before, and then after each
  /// event, even if the state is equal to the one before. Does nothing if the subscriber was added already. Any thread.
  ///
  /// The subscriber is not retained. One that is gone is dropped.
  ///
  /// It waits for room, and is reported where it cannot, as ``fire(event:)`` says. A subscriber whose `add` was reported so is not
  /// updated, and is added again only after ``remove(subscriber:)``.
  ///
  /// - Parameters:
  ///   - subscriber: The object to update.
  ///   - queue: The queue on which it is updated; nil is a serial queue of the core's.
  ///   - selector: Returns the part of the state that the subscriber is given. Called on the queue. If its result is not of
  ///     the subscriber's type, there is no update; debug builds warn of that, unless it is nil.
  @preconcurrency
  public func add(
    subscriber: any AnySubscriber, notifyOnQueue queue: DispatchQueue? = .main,
    selector: (@Sendable (StateType) -> Any)? = nil
  ) {
    let subscription = Subscription<StateType>(
      subscriber: subscriber, selector: selector, notifyQueue: queue ?? updates)
    guard let registration = table.add(subscription, of: subscriber) else { return }
    reactor.send(.add(registration, reactor.announceRegistration()))
  }

  /// Removes a subscriber: after this has returned, its queue begins no update of it. One that the queue is just beginning, on another
  /// thread, may still run. Any thread, also in the subscriber's `deinit`.
  ///
  /// Returns after all events and commands that were fired before have been processed. Inside of an update, a command or a
  /// middleware it does not wait, nor in a turn, a job or a timer of a loop, nor where a command's last reference to something is
  /// released. Waiting there could be a deadlock.
  public func remove(subscriber: any AnySubscriber) {
    table.remove(subscriber)
    let isOver = DispatchSemaphore(value: 0)
    let waits = !UserCode.isRunningHere
    reactor.send(.remove(Departure(behind: waits ? commands : nil, signaling: isOver)))
    if waits { isOver.wait() }
  }
}
