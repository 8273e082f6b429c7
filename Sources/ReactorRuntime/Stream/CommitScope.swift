import ReactorCore
import Synchronization

/// The effect of one element of a stream. It runs when a journal has made the mutation durable that becomes of the element.
///
/// The problem: between `mutate`, which makes the stream, and the record there may be other streams, operators and the mailbox. The
/// element may be recorded in a later turn, or never. So the effect goes the way of the element:
///
/// 1. *Passing.* A thread that emits the element is inside of this scope (see `ThreadScope`) until the element has been delivered.
/// 2. *Arriving.* The first durable reactor that receives the element notes itself: ``arrive(at:)``. If the element has to wait in
///    the mailbox, the reactor remembers the scopes, and enters them again when it takes the element out: ``wrap(_:)``.
/// 3. *Recording.* When that reactor records a mutation inside of the scope, the effect becomes an end of the turn, once:
///    ``noteRecord(by:in:)``. So it shares the fate of the record.
///
/// If the element is dropped on its way, so is the effect. An operator that passes the element on later, or on another thread, loses
/// the effect: the thread that does so is not inside of the scope.
@usableFromInline
package final class CommitScope: PassedScope, @unchecked Sendable {
  // Unchecked like its superclass: what is added is constant, or an atomic.
  private let effect: @Sendable () -> Void
  /// The identity of the reactor's runtime, as a number; 0 before the element has arrived. Relaxed, as the flag below: mostly one thread
  /// at a time has the element; where several are inside of the scope, one of them notes itself, and one has the record.
  private let recorder = Atomic<UInt>(0)
  private let isRecorded = Atomic(false)

  fileprivate init(_ effect: @escaping @Sendable () -> Void) { self.effect = effect }

  /// The scopes that the calling thread is inside of, the innermost first.
  private static var current: [CommitScope] {
    ThreadScope.isEmpty ? [] : ThreadScope.objects(CommitScope.self)
  }

  /// Returns what calls `body` inside of these scopes, on any thread.
  @usableFromInline
  static func wrap(_ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    let scopes: [PassedScope] = current
    if scopes.isEmpty { return body }
    return { enter(scopes[...]) { body() } }
  }

  /// Notes the reactor that receives the element which the calling thread brings, unless another one has received it.
  ///
  /// If the thread is subscribing to a stream of a reactor, the element comes from that stream. A scope around that belongs to
  /// another stream, one of whose operators has sent something to the reactor.
  @usableFromInline
  static func arrive(at runtime: AnyObject) {
    if ThreadScope.isEmpty { return }
    for object in ThreadScope.objects(AnyObject.self) {
      if object is StreamIdentity { return }
      guard let scope = object as? CommitScope else { continue }
      _ = scope.recorder.compareExchange(expected: 0, desired: number(of: runtime), ordering: .relaxed)
    }
  }

  /// Makes the effects ends of a turn that have arrived at a reactor, which has just recorded a mutation in that turn. Not of the
  /// innermost one: that may be of another reactor, whose code has made a stream of this one emit, and whose records are durable earlier.
  static func noteRecord(by runtime: AnyObject, in ends: TurnEnds) {
    // The outermost one comes first: its element is the earlier one.
    for scope in current.reversed() where scope.recorder.load(ordering: .relaxed) == number(of: runtime) {
      if scope.isRecorded.exchange(true, ordering: .relaxed) { continue }
      ends.append(CommitEffect(scope.effect))
    }
  }

  private static func number(of runtime: AnyObject) -> UInt { UInt(bitPattern: ObjectIdentifier(runtime)) }
}

/// An effect, as an end of the turn that has recorded its mutation.
private final class CommitEffect: TurnEnd, @unchecked Sendable {
  // Unchecked like its superclass; the closure is constant.
  private let effect: @Sendable () -> Void

  init(_ effect: @escaping @Sendable () -> Void) {
    self.effect = effect
    super.init()
  }

  override var waitsForJournal: Bool { true }

  override func run() { effect() }

  override func refuse(_ error: any Error) {}
}

extension Observable {
  /// Returns a stream that emits an element during the subscription, and completes.
  ///
  /// - Parameter effect: Called when a durable reactor has recorded what becomes of the element, and that is durable.
  package static func just(
    _ element: Element, afterCommit effect: @escaping @Sendable () -> Void
  ) -> Observable {
    Observable { observer in
      ThreadScope.enter(CommitScope(effect)) { observer.on(.next(element)) }
      observer.on(.completed)
      return Disposables.create()
    }
  }
}
