import ReactorCore
import Synchronization

/// Carries the answer to a request back to the asker. An action carries the reply to the reactor, which uses it once.
///
/// ```swift
/// enum Action: Sendable { case withdraw(Int, Reply<Int>) }
/// ```
///
/// It may be used in `mutate` or in `reduce`, passed on to another reactor, or kept and used later, on any thread.
///
/// - **When the asker gets it.** If the reply is used inside of a turn, of any reactor: after the turn has ended and its
///   state can be read. So what the asker reads next contains what the turn did; but while seven readers each stay in an earlier state
///   (``SnapshotPolicy/copied``), newer ones are shown later. If it is used outside of turns: at once.
/// - **Exactly once.** The first use counts. Each later one has no effect and returns false. Once the asker has given up, the
///   first use has no effect either, but it still returns true; ``isAwaited`` tells whether it has. A reply whose last
///   reference goes away without a use fails the request with ``AskError/dropped``.
///
/// The asker makes it: ``Reactor/ask(_:)``.
public final class Reply<Value: Sendable>: TurnEnd, @unchecked Sendable {
  // Unchecked: the thread that makes `isUsed` true writes the value or the error; the asker writes `receiver`. Each is published by
  // `phase`.

  /// Whether the reply was used. Relaxed: it only decides which use is the first; the result is published by `phase`.
  @usableFromInline let isUsed = Atomic(false)
  /// The ``ReplyPhase``.
  @usableFromInline let phase: Atomic<UInt8>
  @exclusivity(unchecked) @usableFromInline final var value = LateValue()
  /// Nil if there is a value.
  @exclusivity(unchecked) @usableFromInline final var error: AskError?
  /// What gets the result; nil until the asker waits.
  @exclusivity(unchecked) @usableFromInline final var receiver: ReplyReceiver<Value>?

  /// Creates a reply whose asker does not wait yet.
  @inlinable
  override init() { phase = Atomic(ReplyPhase.unasked) }

  /// Creates a reply whose asker waits.
  @inlinable
  init(to receiver: ReplyReceiver<Value>) {
    phase = Atomic(ReplyPhase.waiting)
    self.receiver = receiver
  }

  // MARK: The reactor

  /// Replies with a value. Any thread.
  ///
  /// - Parameter value: What the asker gets.
  /// - Returns: False if the reply was used before.
  @inlinable
  @discardableResult
  public final func callAsFunction(_ value: Value) -> Bool {
    if isUsed.exchange(true, ordering: .relaxed) { return false }
    self.value.set(value)
    runAfterTurn()
    return true
  }

  /// Fails the request: the asker gets ``AskError/failed(_:)``. Any thread.
  ///
  /// - Parameter error: What the asker gets.
  /// - Returns: False if the reply was used before.
  @inlinable
  @discardableResult
  public final func fail(_ error: any Error) -> Bool {
    if isUsed.exchange(true, ordering: .relaxed) { return false }
    self.error = .failed(error)
    runAfterTurn()
    return true
  }

  /// Whether an asker still waits for a use of this reply: false if it was used, or if the asker has given up, because of its
  /// deadline or a cancellation. Any thread.
  ///
  /// A reactor that keeps replies can drop those that nobody awaits:
  ///
  /// ```swift
  /// state.waiting.removeAll { !$0.isAwaited }
  /// ```
  ///
  /// It is a hint: the asker may give up at any moment, and one that is about to do so may still count as waiting. So it is no
  /// function of a state and a mutation: with ``SnapshotPolicy/replayed``, `reduce` must not read it.
  ///
  /// - Complexity: O(1).
  @inlinable
  public final var isAwaited: Bool {
    if isUsed.load(ordering: .relaxed) { return false }
    // Acquire: the receiver.
    switch phase.load(ordering: .acquiring) {
    case ReplyPhase.unasked: return true
    case ReplyPhase.waiting: return receiver?.hasResult == false
    default: return false
    }
  }

  /// What the reply was used with. After that.
  @inlinable
  final var result: Result<Value, AskError> {
    if let error { return .failure(error) }
    return .success(value.get(Value.self))
  }

  /// Hands the result over, after the turn. For the runtime only; the thread that used the reply.
  ///
  /// Does nothing before the first use, when there is no result.
  @_documentation(visibility: internal)
  @inlinable
  override public final func run() {
    // Relaxed: the same thread has used it.
    if !isUsed.load(ordering: .relaxed) { return }
    // Release: the result, to the asker that finds the phase. Acquire: the receiver, of an asker that waits.
    if phase.exchange(ReplyPhase.done, ordering: .acquiringAndReleasing) == ReplyPhase.waiting { deliver() }
  }

  /// Hands over an error in place of the result, which the journal could not make durable. For the runtime only, in place of ``run()``.
  ///
  /// Does nothing before the first use.
  ///
  /// - Parameter error: What the asker gets.
  @_documentation(visibility: internal)
  override public final func refuse(_ error: any Error) {
    if !isUsed.load(ordering: .relaxed) { return }
    self.error = .failed(error)
    run()
  }

  @usableFromInline
  final func deliver() {
    receiver?.receive(self)
  }

  deinit {
    value.destroy(Value.self)
    // No other thread refers to the reply any more, so relaxed. An asker that does not wait yet has a reference itself.
    if isUsed.load(ordering: .relaxed) { return }
    // Acquire: the receiver. The count of references orders that, too, but ThreadSanitizer does not see it.
    if phase.load(ordering: .acquiring) != ReplyPhase.waiting { return }
    guard let receiver else { return }
    let reason = TurnMark.isDiscarding ? AskError.closed : .dropped
    // This may be the middle of a turn.
    TurnEndAction { receiver.fail(reason) }.runAfterTurn()
  }

  // MARK: The asker

  /// The result, if there is one now. The asker.
  @inlinable
  final func poll() -> Result<Value, AskError>? {
    // Acquire: the result.
    phase.load(ordering: .acquiring) == ReplyPhase.done ? result : nil
  }

  /// Makes `receiver` the one that gets the result. The asker, once.
  ///
  /// - Returns: The result, if there is one now; then the receiver gets none.
  @inlinable
  final func wait(with receiver: ReplyReceiver<Value>) -> Result<Value, AskError>? {
    self.receiver = receiver
    // Release: the receiver. Acquire: the result of a thread that was faster.
    let isWaiting = phase.compareExchange(
      expected: ReplyPhase.unasked, desired: ReplyPhase.waiting, ordering: .acquiringAndReleasing
    ).exchanged
    return isWaiting ? nil : result
  }

  /// Notes that the reactor did not get the reply: its end is not reported, and nobody awaits it. The asker, which reads nothing of it
  /// afterwards.
  @usableFromInline
  final func withdraw() { phase.store(ReplyPhase.done, ordering: .relaxed) }
}

extension Reply where Value == Void {
  /// Replies that it is done. Any thread.
  ///
  /// - Returns: False if the reply was used before.
  @inlinable
  @discardableResult
  public final func callAsFunction() -> Bool { callAsFunction(()) }
}

/// Where a reply is on its way.
///
/// ```
///   unasked ── the asker waits ──▶ waiting ── the turn has ended ──▶ done
///      └───────── the turn has ended ────────────────────────────────▶
/// ```
@usableFromInline
enum ReplyPhase {
  /// There is neither a result nor a receiver.
  @inlinable static var unasked: UInt8 { 0 }
  /// There is a receiver.
  @inlinable static var waiting: UInt8 { 1 }
  /// There is a result, and the turn in which it was made has ended.
  @inlinable static var done: UInt8 { 2 }
}

/// What gets the result of a request: the first of those that the reply, the deadline and the task's cancellation have. Any thread.
@usableFromInline
class ReplyReceiver<Value: Sendable>: @unchecked Sendable {
  // Unchecked: not final, but its subclasses are, and say how their state is protected.

  @usableFromInline init() {}

  /// The reply was used, and its turn has ended.
  @usableFromInline
  func receive(_ reply: Reply<Value>) {}

  /// There will be no reply.
  @usableFromInline
  func fail(_ error: AskError) {}

  /// Whether it has a result, so that no other one counts.
  @usableFromInline
  var hasResult: Bool { false }
}
