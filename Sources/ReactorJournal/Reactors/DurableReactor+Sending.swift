import ReactorCore
import ReactorRuntime
import Synchronization

extension DurableReactor {
  /// Reads the state from the journal, and starts the reactor with it; does nothing if it has started. Any thread, before
  /// the first use: a reactor that is used first does the same, and stops the program if there is an error. Only if the journal was closed
  /// or has failed, the reactor is closed instead, so that what is sent to it is refused; then to read its state stops the program. While
  /// the journal is being closed, it is closed, too, but has its state. One whose entry is retired, or is being retired, is closed and has
  /// its `initialState`: see ``Journal/retire(_:)-(String)``.
  ///
  /// Holds locks of the journal meanwhile: its commits and other recoveries wait. For many reactors, ``Journal/recover(_:progress:)``
  /// reads the log once.
  ///
  /// - Parameter progress: Called now and then, on this thread. It must not call the journal or its reactors, which would
  ///   deadlock.
  /// - Throws: ``JournalError``: the records cannot be read; ``JournalError/inUse(entry:)`` if another reactor has the entry and does not go
  ///   within five seconds: use that one, or release it and try again. The reactor is not started then.
  /// - Complexity: O(number of records in the journal since the reactor's last snapshot).
  public func recover(progress: ((RecoveryProgress) -> Void)? = nil) throws(JournalError) {
    try member.ensureRecovered(self, retries: true, progress)
    runtime.ensureStarted(self)
  }

  /// Sends an action, and returns when everything that it did at once is durable: its known mutations, but not those of a
  /// stream that continues. While there is no room, the task is suspended; so it is in the first use of the reactor, while the
  /// state is read or an earlier reactor has the entry: what several tasks send meanwhile, or one without waiting for the result, may be
  /// processed in another order. Call ``recover(progress:)`` before if that matters. Any task; a cancellation has no effect once the
  /// action is accepted.
  ///
  /// - Parameters:
  ///   - action: The action.
  ///   - id: A number of your choice, such as a UUID. An action with the same number as one of the last 1024
  ///     (``JournalConfiguration/requestWindow``) is not processed again, also after a restart; but this waits until that one
  ///     is durable. An action that records nothing at once is not remembered: one without mutations, or one whose mutations come
  ///     later, from a stream. The latter has its effect again if it is sent again, so let such an action record the number itself.
  /// - Throws: ``DurabilityError``. If this is the first use of the reactor, and its state cannot be read, nothing is written, and
  ///   unlike any other first use, this does not stop the program. If there is an `id`, and the reactor cannot look for it, since it
  ///   cannot be started or an error has ended its journal, ``DurabilityError/unknownOutcome(_:)``: an earlier action with the same number
  ///   may be written. Without an `id`, ``DurabilityError/notWritten(_:)``. The error of both is ``JournalError/fenced`` if this is the first
  ///   use of the reactor, and its journal was closed before. A reactor that has started and is closed, as after its journal was
  ///   closed, gives ``DurabilityError/refused(_:)``, also with an `id`.
  @inlinable
  nonisolated(nonsending)
    public func sendDurably(_ action: Action, id: UInt128? = nil) async throws(DurabilityError)
  {
    let ticket = DurableTicket(for: member, mayRepeat: id != nil)
    if !member.hasStarted, let error = await member.tryRecover(self) {
      ticket.discard(error)
      return try await ticket.wait()
    }
    do {
      try await runtime.enqueueStepSuspending(
        of: self, { [self] in processDurably(action, id, ticket) }, orDiscard: { ticket.discard($0) })
    } catch {
      ticket.discard(error)
    }
    try await ticket.wait()
  }

  @inlinable
  func processDurably(_ action: Action, _ id: UInt128?, _ ticket: DurableTicket) {
    if member.isRepeated(id) { return ticket.runAfterTurn() }
    let before = member.recordedInTurn
    if !runtime.processInStep(action, of: self) { return ticket.discard(.closed) }
    ticket.noteIsNew()
    member.noteRequest(id, since: before)
    ticket.runAfterTurn()
  }

  @usableFromInline
  var member: JournalMember {
    guard let member = runtime.journal as? JournalMember else {
      fatalError("the runtime of \(Self.self) has no journal")
    }
    return member
  }

  /// The state with everything that the owner has reduced, durable or not. Any thread.
  public var latestState: State {
    runtime.ensureStarted(self)
    member.checkHasState()
    return runtime.readLatest(of: self) { copy $0 }
  }

  /// The state with everything that is durable. Any thread.
  ///
  /// Stops the program with visibility ``Visibility/latest`` if ``JournalConfiguration/snapshotRecords`` is nil: then nobody
  /// keeps it.
  public var durableState: State {
    runtime.ensureStarted(self)
    member.checkHasState()
    guard let runtime = member.bound?.followerRuntime as? Runtime<Mutation, Mutation, State> else {
      fatalError(
        """
        Problem: \(Self.self) keeps no durable state.
        Likely cause: its visibility is `latest`, and its journal makes no snapshots.
        Remedy: JournalConfiguration.snapshotRecords, or the visibility `durable`.
        """)
    }
    return runtime.shownState
  }

  /// The position of the last durable record of this reactor since the start; 0 if there is none. Any thread.
  public var durablePosition: UInt64 { member.durablePosition.load(ordering: .acquiring) }
}

extension JournalMember {
  @usableFromInline var hasStarted: Bool { bound != nil }

  /// Reads the state of a reactor that was not started, unless that has failed before. Any task: it blocks no thread of the pool, neither
  /// for an earlier reactor with the entry nor for the disk.
  ///
  /// - Returns: Why it cannot be started; nil if it can.
  @usableFromInline
  func tryRecover(_ reactor: some DurableReactor) async -> JournalError? {
    beginStarting(reactor)
    defer { endStarting() }
    do throws(JournalError) { try await journal.awaitPredecessorSuspending(of: self) } catch { return error }
    return await withCheckedContinuation { continuation in
      journal.recoveries.async { [self] in
        do throws(JournalError) {
          try ensureRecovered(reactor, retries: false, nil)
          continuation.resume(returning: nil)
        } catch {
          continuation.resume(returning: error)
        }
      }
    }
  }

  /// Whether a request with this identifier was processed. The owner.
  @usableFromInline
  func isRepeated(_ id: UInt128?) -> Bool {
    id.map { requests.contains($0) } ?? false
  }

  /// Remembers an identifier if its action has recorded anything. The owner.
  ///
  /// - Parameter before: How many records the turn had before.
  @usableFromInline
  func noteRequest(_ id: UInt128?, since before: Int) {
    guard let id, recordedInTurn > before else { return }
    requests.insert(id)
    newRequests.append(id)
  }
}

/// A task that waits until a turn is durable.
@usableFromInline
final class DurableTicket: TurnEnd, @unchecked Sendable {
  // Unchecked like its superclass: it adds what is Sendable.
  private let awaited = AwaitedValue<Result<Void, DurabilityError>>()
  private let journal: Journal
  /// Whether an earlier action with the same identifier may be written. Relaxed: the owner changes it before it hands the ticket over.
  private let mayRepeat: Atomic<Bool>

  @usableFromInline
  init(for member: JournalMember, mayRepeat: Bool) {
    journal = member.journal
    self.mayRepeat = Atomic(mayRepeat)
    super.init()
  }

  /// The action is none that was processed before. The owner.
  @usableFromInline
  func noteIsNew() { mayRepeat.store(false, ordering: .relaxed) }

  override var waitsForJournal: Bool { true }

  override func run() { finish(.success(())) }

  override func refuse(_ error: any Error) {
    finish(.failure(error as? DurabilityError ?? .notWritten(.fenced)))
  }

  /// The action was accepted and will not be processed. Any thread.
  @usableFromInline
  func discard(_ reason: SendError?) { finish(.failure(refusal(reason ?? .closed))) }

  /// The reactor cannot be started. Any thread.
  @usableFromInline
  func discard(_ reason: JournalError) { finish(.failure(.notWritten(reason))) }

  @usableFromInline
  func refusal(_ reason: SendError) -> DurabilityError {
    if reason == .closed, let failure = journal.failure { return .notWritten(failure) }
    return .refused(reason)
  }

  @usableFromInline
  nonisolated(nonsending)
    func wait() async throws(DurabilityError)
  {
    try await awaited.get().get()
  }

  private func finish(_ result: Result<Void, DurabilityError>) {
    var result = result
    if case .failure(.notWritten(let error)) = result, mayRepeat.load(ordering: .relaxed) {
      result = .failure(.unknownOutcome(error))
    }
    awaited.set(result)
  }
}
