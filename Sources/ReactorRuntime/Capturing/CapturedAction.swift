import ReactorCore

/// A step that processes an action while a task-local has the value that it had where the action was sent.
///
/// It retains neither the reactor nor the runtime: a reactor must go away although something is left in its mailbox. What runs a step holds
/// both, and what discards it keeps the runtime, or is the end of that.
@usableFromInline
final class CapturedAction<R: Reactor, Value: Sendable>: Step, @unchecked Sendable {
  // Unchecked as its superclass: what is added is constant.
  @usableFromInline let action: R.Action
  @usableFromInline let local: TaskLocal<Value>
  @usableFromInline let value: Value
  @usableFromInline let reactor: UncountedReference<R>
  @usableFromInline let runtime: UncountedReference<Runtime<R.Action, R.Mutation, R.State>>

  @inlinable
  init(
    _ action: R.Action, of reactor: R, _ runtime: Runtime<R.Action, R.Mutation, R.State>,
    _ local: TaskLocal<Value>
  ) {
    self.action = action
    self.local = local
    value = local.get()
    self.reactor = UncountedReference(reactor)
    self.runtime = UncountedReference(runtime)
    super.init()
  }

  @inlinable override var isAction: Bool { true }

  @inlinable
  override func run() {
    local.withValue(value) { runtime.use { runtime in reactor.use { runtime.process(action, of: $0) } } }
  }

  @inlinable
  override func discard(_ reason: SendError?) {
    runtime.use { $0.report(.actionNotDelivered(reason ?? .closed), action) }
  }
}
