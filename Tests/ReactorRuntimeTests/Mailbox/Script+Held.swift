import ReactorCore
import ReactorRuntime
import TestSupport

extension Script {
  /// A reactor whose owner is held inside `mutate` of action 0 until the gate opens.
  static func held(
    on placement: Placement, capacity: Int, overflow: OverflowPolicy = .block,
    reentrantCapacity: Int = 1024, failures: Record<SendError> = Record(), isInside: Gate, mayGoOn: Gate
  ) -> Script {
    let reactor = Script(
      on: placement, capacity: capacity, overflow: overflow, reentrantCapacity: reentrantCapacity,
      failures: failures,
      mutate: { _, action in
        if action == 0 {
          isInside.open()
          _ = mayGoOn.wait()
        }
        return .just(action)
      })
    // Starts the reactor, since the action that starts it would take a slot.
    _ = reactor.state
    return reactor
  }
}
