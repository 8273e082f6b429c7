import ReactorCore

/// What runs a reactor: its mailbox, its state, and the rule of who processes its actions.
///
/// A reactor stores one as a constant. It serves that reactor only, and does not retain it.
///
/// The way of an action through it stands in ARCHITECTURE.md.
public final class RuntimeOn<C: Core, Action: Sendable, Mutation: Sendable, State: Sendable>: Sendable {
  @usableFromInline let mailbox: MailboxOn<C, Action>
  @usableFromInline let state: OwnedStateOn<C, State>
  /// Nil on placement ``PlacementOn/caller``.
  @usableFromInline let loop: LoopState<C>?
  /// How the loop's thread runs a turn; set at the start.
  @usableFromInline let turnBody = OwnerCell<@Sendable () -> Int>({ 0 })
  /// For the report of what a deinit finds undelivered; set at the start.
  @usableFromInline let reactorType = OwnerCell<any AnyObject.Type>(RuntimeOn.self)
  #if DEBUG
    /// The one reactor whose turns this runs; set at the start.
    @usableFromInline let served = OwnerCell<ObjectIdentifier?>(nil)
  #endif
  @usableFromInline let turnLimit: Int
  private let onFailure: @Sendable (Failure) -> Void
  // A reactor without another reference to its loop keeps it running.
  private let placement: PlacementOn<C>

  /// Makes the runtime of one reactor.
  ///
  /// Stops the program, with a sentence, if a capacity is invalid or there is no memory.
  ///
  /// - Parameters:
  ///   - placement: Who runs the turns.
  ///   - capacity: How many actions the mailbox holds; a power of two. All of that memory is allocated now.
  ///   - reentrantCapacity: How many actions may wait that were sent from inside the reactor's own turns.
  ///   - onFailure: Called once for each action that was lost: on the sending thread if it was refused; on
  ///     any thread if it was accepted and its loop was then shut down.
  public init(
    on placement: PlacementOn<C> = .caller, capacity: Int = 4096, reentrantCapacity: Int = 65_536,
    onFailure: @escaping @Sendable (Failure) -> Void = Failure.printToStandardError
  ) {
    precondition(reentrantCapacity > 0, "reentrantCapacity is \(reentrantCapacity); it must be positive")
    do {
      mailbox = try MailboxOn(capacity: capacity, reentrantCapacity: reentrantCapacity)
      state = try OwnedStateOn()
    } catch {
      fatalError("a Runtime with capacity \(capacity) cannot be made: \(error)")
    }
    self.placement = placement
    self.onFailure = onFailure
    switch placement {
    case .caller:
      loop = nil
      turnLimit = 1024
    case .loop(let loop):
      self.loop = loop.state
      turnLimit = loop.state.turnLimit
    }
  }

  deinit {
    // Left behind only by a loop that was shut down while others were sending.
    let left = mailbox.removeAll()
    for _ in 0..<left { report(.closed, of: reactorType.value) }
  }

  @usableFromInline
  @inline(never)
  func report(_ reason: SendError, of reactor: any AnyObject.Type) {
    onFailure(Failure(reactor: String(reflecting: reactor), reason: reason))
  }
}

/// The runtime of a reactor on the C core.
public typealias Runtime<Action: Sendable, Mutation: Sendable, State: Sendable> =
  RuntimeOn<CCore, Action, Mutation, State>
