extension Reactor {
  /// The values of a ``Pulse`` in the state: the one at the subscription, and then each that was set, equal
  /// ones too; nothing for states in which it was not set.
  ///
  ///     reactor.pulse(\.$alertMessage).compactMap { $0 }.subscribe(onNext: { print($0) })
  ///
  /// If it was set several times in one mutation, the last value is emitted. See ``state`` for threads.
  @inlinable
  public func pulse<Value: Sendable>(
    _ pulse: @escaping @Sendable (State) throws -> Pulse<Value>
  ) -> Observable<Value> {
    state.map(pulse).distinctUntilChanged { $0.valueUpdatedCount == $1.valueUpdatedCount }.map { $0.value }
  }
}
