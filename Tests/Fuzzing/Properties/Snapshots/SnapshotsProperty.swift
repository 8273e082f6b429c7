import ReactorCore
import ReactorRuntime
import ReactorTesting
import TestSupport

extension FuzzProperty {
  /// With every snapshot policy each read finds the newest state, whole; it does not change while the read lasts; and no
  /// copy ever changes.
  ///
  /// Four threads read, and stay inside of their reads; another one sends if it must wait for them. All do what one thread
  /// tells them, one after the other, so that each input does the same each time.
  ///
  /// The closures of the reads are generic: one whose type names a concrete state is given a copy, in which no change of the place
  /// is seen.
  public static let snapshots = snapshots(nil)

  public static func snapshots(_ fault: SnapshotsFault?) -> FuzzProperty {
    // Fewer inputs, since threads hand over to each other.
    FuzzProperty("snapshots", randomInputs: 300) { bytes throws(Mismatch) in
      let snapshotsCase = SnapshotsCase(bytes)
      if snapshotsCase.hasCollections {
        try SnapshotsRun<CollectionState>.run(snapshotsCase, fault)
      } else if snapshotsCase.isSmall {
        try SnapshotsRun<SmallState>.run(snapshotsCase, fault)
      } else {
        try SnapshotsRun<PlainState>.run(snapshotsCase, fault)
      }
    }
  }
}

/// One reactor beside its model.
private struct SnapshotsRun<State: SnapshotsState> {
  /// A read that a reader is inside of.
  private struct OpenRead {
    let version: Int
    /// Whether the owner waits for it: not if it was given a copy, since there was no state yet.
    let isWaitedFor: Bool
  }

  /// A copy that was taken when the state had that version.
  private struct Copy {
    var state: State
    let version: Int
  }

  private let snapshotsCase: SnapshotsCase
  private let isOnDemand: Bool
  private var loop: SteppedLoop?
  private let lifetimes = Lifetimes()
  private var subject: SnapshotsSubject<State>
  private var model: SnapshotsModel<State>
  private var readers: [SnapshotsReader<State>?] = Array(repeating: nil, count: SnapshotsCase.readerCount)
  private var reads: [OpenRead?] = Array(repeating: nil, count: SnapshotsCase.readerCount)
  /// The thread that obeys while readers may make the owner wait.
  private var sender: SnapshotsHand<SnapshotsOrder?>?
  /// What is obeyed as soon as no reader is inside.
  private var pending: [SnapshotsOrder] = []
  private var copies: [Copy] = []
  private var observed = Record<State>()
  private var observer: (any Disposable)?
  private var lastPayload = 0
  private var log = FuzzLog<SnapshotsOperation>()

  static func run(_ snapshotsCase: SnapshotsCase, _ fault: SnapshotsFault?) throws(Mismatch) {
    let lifetimes = try runAndRelease(snapshotsCase, fault)
    if lifetimes.alive != 0 {
      throw Mismatch(after: snapshotsCase.operations.map { "\($0)" }, "\(lifetimes.alive) payloads are left.")
    }
  }

  private static func runAndRelease(
    _ snapshotsCase: SnapshotsCase, _ fault: SnapshotsFault?
  ) throws(Mismatch) -> Lifetimes {
    var run = SnapshotsRun(snapshotsCase, fault)
    defer { run.end() }
    for operation in snapshotsCase.operations {
      run.log.append(operation)
      try run.perform(operation)
      try run.compareCopies()
    }
    try run.finish()
    return run.lifetimes
  }

  private init(_ snapshotsCase: SnapshotsCase, _ fault: SnapshotsFault?) {
    self.snapshotsCase = snapshotsCase
    isOnDemand = snapshotsCase.isOnDemand(State.self)
    do {
      loop = snapshotsCase.isStepped ? try SteppedLoop(turnLimit: snapshotsCase.turnLimit) : nil
    } catch { fatalError("\(error)") }
    subject = SnapshotsSubject(snapshotsCase, on: loop?.placement ?? .caller, lifetimes.track(0), fault)
    let startsNow = snapshotsCase.isObserved || snapshotsCase.startsEarly || loop != nil
    model = SnapshotsModel(snapshotsCase, hasStarted: startsNow)
    if snapshotsCase.isObserved {
      observer = subject.state.subscribe(onNext: { [observed] in observed.append($0) })
    } else if startsNow {
      _ = subject.state
    }
    loop?.run()
  }

  private mutating func perform(_ operation: SnapshotsOperation) throws(Mismatch) {
    switch operation {
    case .send(let changes): order(.send(makeAction(changes)))
    case .step: if loop != nil { order(.step) }
    case .close(let closing):
      // What was sent inside of a read waits for its end: a discard meanwhile reports it, and the model does not know of that.
      if closing == .drain || pending.isEmpty { order(.close(closing)) }
    case .open(let reader): try open(reader)
    case .look(let reader): if mayRead(reader) { try look(reader) }
    case .peek(let reader): if reads[reader] != nil { try peek(reader, .peek) }
    case .leave(let reader): try leave(reader)
    case .copy(let reader): if mayRead(reader) { copy(reader) }
    case .sendInside(let reader, let changes): sendInside(reader, changes)
    case .lookHere:
      if pending.isEmpty { try log.expect(subject.sight(), is: newest, "the state") }
    case .copyHere:
      if pending.isEmpty { keep(subject.currentState) }
    case .forgetCopy: if !copies.isEmpty { copies.removeFirst() }
    }
    let complaints = subject.complaints.elements
    try log.expect(complaints.isEmpty, complaints.first ?? "")
  }

  private mutating func makeAction(_ changes: [SnapshotsChange]) -> SnapshotsAction {
    lastPayload += 1
    return SnapshotsAction(changes: changes, payload: lifetimes.track(lastPayload))
  }

  private var newest: Sight { model.sight(of: model.newest) }

  // MARK: The owner

  /// How many readers the owner waits for before it changes the state.
  private var waitedForCount: Int { reads.count { $0?.isWaitedFor == true } }

  private mutating func order(_ order: SnapshotsOrder) {
    if pending.isEmpty, waitedForCount == 0 || !model.changesState(order) {
      Self.obey(order, subject, loop)
      return model.obey(order)
    }
    pending.append(order)
    if sender == nil {
      sender = SnapshotsHand { [subject, loop] hand in
        while let order = hand.next() {
          Self.obey(order, subject, loop)
          hand.finish()
        }
        hand.finish()
      }
    }
    sender?.give(order)
  }

  private static func obey(_ order: SnapshotsOrder, _ subject: SnapshotsSubject<State>, _ loop: SteppedLoop?)
  {
    switch order {
    case .send(let action): subject.send(action)
    case .step: loop?.step()
    case .close(let closing): subject.close(closing)
    }
  }

  // MARK: Readers

  /// Whether a reader can read without waiting: not from outside while the owner waits for other readers.
  private func mayRead(_ reader: Int) -> Bool { pending.isEmpty || reads[reader]?.isWaitedFor == true }

  private mutating func hand(_ reader: Int) -> SnapshotsReader<State> {
    if let found = readers[reader] { return found }
    let new = SnapshotsReader(of: subject)
    readers[reader] = new
    return new
  }

  private mutating func open(_ reader: Int) throws(Mismatch) {
    if !pending.isEmpty || reads[reader] != nil { return }
    reads[reader] = OpenRead(version: model.newest, isWaitedFor: isOnDemand && model.hasStarted)
    let hand = hand(reader)
    hand.perform(.open)
    try log.expect(hand.takeSights(), is: [newest], "what reader \(reader) sees")
  }

  private mutating func look(_ reader: Int) throws(Mismatch) {
    let hand = hand(reader)
    hand.perform(.look)
    try log.expect(hand.takeSights(), is: [newest], "what reader \(reader) sees")
  }

  private mutating func peek(_ reader: Int, _ errand: SnapshotsReaderErrand) throws(Mismatch) {
    guard let read = reads[reader] else { return }
    let hand = hand(reader)
    hand.perform(errand)
    try log.expect(
      hand.takeSights(), is: [model.sight(of: read.version)], "what reader \(reader) sees when it looks again"
    )
  }

  private mutating func leave(_ reader: Int) throws(Mismatch) {
    if reads[reader] == nil { return }
    defer {
      reads[reader] = nil
      if !pending.isEmpty, waitedForCount == 0 {
        sender?.wait()
        for order in pending { model.obey(order) }
        pending = []
      }
    }
    try peek(reader, .leave)
  }

  private mutating func copy(_ reader: Int) {
    let hand = hand(reader)
    hand.perform(.copy)
    for copy in hand.takeCopies() { keep(copy) }
  }

  private mutating func sendInside(_ reader: Int, _ changes: [SnapshotsChange]) {
    guard pending.isEmpty, let read = reads[reader] else { return }
    let order = SnapshotsOrder.send(makeAction(changes))
    guard case .send(let action) = order else { return }
    if waitedForCount > 0, model.changesState(order) {
      // The reader processes it when its read has ended, and must not wait for others then.
      if waitedForCount > 1 || !read.isWaitedFor { return }
      pending.append(order)
    } else {
      model.obey(order)
    }
    hand(reader).perform(.send(action))
  }

  // MARK: Copies

  private mutating func keep(_ state: State) {
    copies.append(Copy(state: state, version: model.newest))
    if copies.count > 6 { copies.removeFirst() }
  }

  private mutating func compareCopies() throws(Mismatch) {
    for index in copies.indices {
      let sight = subject.sight(ofCopy: &copies[index].state)
      try log.expect(sight, is: model.sight(of: copies[index].version), "a copy")
    }
  }

  // MARK: The end

  private mutating func finish() throws(Mismatch) {
    for reader in readers.indices { try leave(reader) }
    while !model.waiting.isEmpty { order(.step) }
    try log.expect(subject.sight(), is: newest, "the state in the end")
    for reader in readers.indices where readers[reader] != nil { try look(reader) }
    try compareCopies()
    if !snapshotsCase.isObserved { return }
    try log.expect(
      observed.elements.map(\.sight), is: model.states.map(\.sight), "the states that were observed")
  }

  /// Lets the threads end.
  private mutating func end() {
    for reader in readers.indices where reads[reader] != nil { readers[reader]?.perform(.leave) }
    sender?.give(nil)
    sender?.join()
    for reader in readers { reader?.end() }
    observer?.dispose()
    loop?.run()
  }
}
