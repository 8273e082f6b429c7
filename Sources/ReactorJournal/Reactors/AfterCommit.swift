import ReactorRuntime

extension ObservableType where Element: JournalRecord {
  /// A mutation, and what happens when it is durable: `return .afterCommit(.paid(invoice)) { mailer.send(receipt) }`.
  ///
  /// Return it from the `mutate` of a ``DurableReactor``, alone or as a part of a stream. The effect belongs to the mutation, and
  /// not to the action: in `.concat(gateway.charge(card), .afterCommit(.paid) { … })` it waits until `.paid` is durable, however
  /// much later that is recorded. It does not run if the reactor never records the mutation: because the stream before it fails,
  /// or because a `filter` or the reactor's `transform(mutation:)` drops it. If operators make several mutations of it, the effect
  /// runs when the first of these is durable. In a reactor that is not durable it never runs.
  ///
  /// Let no operator behind it pass the mutation on later or on another thread, as `delay`, `observe(on:)` and subjects do. Then the
  /// mutation is recorded, and the effect is lost. A `merge` or `flatMap` of several streams may do the same if these send on several
  /// threads at once; and if the mutation is dropped behind it, the effect may run with another one. Nor let the stream bring the
  /// mutation to another durable reactor first, as by `do(onNext: subject.onNext)`: the effect would belong to the record of that one.
  /// Put such operators before:
  /// `Observable.merge(first, second).flatMap { Observable<Mutation>.afterCommit(.received($0)) { … } }`.
  ///
  /// The effect runs once for each subscription, usually on the journal's thread. It must not block. It does not run if the process
  /// or the journal ends before: what must happen even then belongs into the state, and is tried again after
  /// ``DurableReactor/recover(progress:)``.
  public static func afterCommit(
    _ mutation: Element, _ effect: @escaping @Sendable () -> Void
  ) -> Observable<Element> {
    .just(mutation, afterCommit: effect)
  }
}
