import BenchmarkSupport
import PureSwiftCore
import ReactorCore

/// All that can be measured, in the order of the report. A variant with which the others of its case are compared comes
/// first.
enum Catalogue {
  static let cases: [Case] =
    [
      parts, reactors, cores, journals, streams, publishing, observation, sizes, readers, latencies, scale,
      curves,
      limits,
    ].flatMap(\.self)
}

/// Parts of both cores, in this process. Producers send to a ring or to lanes, and one thread receives and reduces. Or
/// each producer acquires the ownership and reduces itself.
extension Catalogue {
  static let parts: [Case] = [
    Case(
      "ring.single", .fanIn(.busy), limit: CaseOutline.Limit("limit.spsc"),
      variants: [
        .subject("c", RingSubject<CCore>.self),
        .subject("swift", RingSubject<SwiftCore>.self),
        .subject("urcu-wfcqueue", WaitFreeQueueBaseline<PollingAtOnce>.self),
        .subject("urcu-wfcqueue-paced", WaitFreeQueueBaseline<PollingPaced>.self),
      ]),
    Case(
      "ring.batch16", .fanIn(.busy), limit: CaseOutline.Limit("limit.spsc"),
      variants: [
        .subject("c", RingBatchSubject<CCore>.self),
        .subject("swift", RingBatchSubject<SwiftCore>.self),
      ]),
    Case(
      "lanes.single", .fanIn(.busy), limit: CaseOutline.Limit("limit.spsc"),
      variants: [
        .subject("c", LaneSubject<CCore>.self),
        .subject("swift", LaneSubject<SwiftCore>.self),
      ]),
    Case(
      "ownership", .fanIn(.spinning), limit: CaseOutline.Limit("limit.fetchadd-contended"),
      variants: [
        .subject("c", OwnershipSubject<CCore>.self),
        .subject("swift", OwnershipSubject<SwiftCore>.self),
      ]),
  ]
}

/// Reactors, and what a user would otherwise choose.
extension Catalogue {
  static let reactors: [Case] = [
    Case(
      "reactor.loop", .fanIn(.spinning), limit: CaseOutline.Limit("limit.spsc"),
      variants: [
        .onCore(LoopReactorSubject.self),
        .onCore(FloatingLoopSubject.self, suffix: "-floating"),
        .subject("mutex", MutexBaseline.self),
        .subject("pthread-mutex", PthreadMutexBaseline.self),
        .subject("dispatch", DispatchQueueBaseline.self),
        .subject("actor", ActorBaseline.self),
        .subject("asyncstream", AsyncStreamBaseline.self),
        .subject("swapped-array", SwappedArrayBaseline.self),
      ]),
    Case(
      "reactor.caller", .fanIn(.spinning), limit: CaseOutline.Limit("limit.fetchadd-contended"),
      variants: [
        .onCore(CallerReactorSubject.self),
        .subject("mutex", MutexBaseline.self),
        .subject("pthread-mutex", PthreadMutexBaseline.self),
        .subject("dispatch", DispatchQueueSyncBaseline.self),
        .subject("actor", ActorBaseline.self),
      ]),
    Case(
      "reactor.runs16", .fanIn(.spinning), limit: CaseOutline.Limit("limit.spsc"),
      variants: [
        .onCore(RunSubject<AsksLoop>.self, suffix: "-loop"),
        .onCore(LoopReactorSubject.self, suffix: "-loop-single"),
        .onCore(RunSubject<AsksCaller>.self, suffix: "-caller"),
        .onCore(CallerReactorSubject.self, suffix: "-caller-single"),
      ]),
    Case(
      "sync.uncontended", .synchronous, limit: CaseOutline.Limit("limit.fetchadd"),
      variants: [
        .onCore(CallerReactorSubject.self),
        .subject("mutex", MutexBaseline.self),
        .subject("pthread-mutex", PthreadMutexBaseline.self),
        .subject("dispatch", DispatchQueueSyncBaseline.self),
        .subject("actor", ActorBaseline.self),
      ]),
    Case(
      "sync.realistic", .synchronous, limit: CaseOutline.Limit("limit.fetchadd"),
      variants: [
        .onCore(CarryingReactorSubject<PlainAction>.self, suffix: "-item"),
        .onCore(CarryingReactorSubject<RichAction>.self),
        .subject("mutex-item", CarryingMutexBaseline<PlainAction>.self),
        .subject("mutex", CarryingMutexBaseline<RichAction>.self),
        .subject("actor-item", CarryingActorBaseline<PlainAction>.self),
        .subject("actor", CarryingActorBaseline<RichAction>.self),
      ]),
    Case(
      "sync.ask", .synchronous, limit: CaseOutline.Limit("limit.fetchadd"),
      variants: [
        .onCore(AskSubject<AsksCaller>.self),
        .onCore(AskSubject<AsksLoop>.self, suffix: "-loop"),
        .subject("mutex", MutexBaseline.self),
        .subject("actor", ActorBaseline.self),
      ]),
    Case(
      "ask.contended", .fanIn(.spinning), limit: CaseOutline.Limit("limit.fetchadd-contended"),
      variants: [
        .onCore(AskSubject<AsksCaller>.self),
        .onCore(AskSubject<AsksLoop>.self, suffix: "-loop"),
        .onCore(AskSubject<AsksLoopBeforeDeadline>.self, suffix: "-loop-deadline"),
        .subject("actor", ActorBaseline.self),
      ]),
  ]
}

/// ReactorSwift's API: an event that nobody subscribes to, and what the state's own reaction to it takes.
extension Catalogue {
  static let cores: [Case] = [
    Case(
      "core.fire", .fanIn(.spinning), limit: CaseOutline.Limit("limit.spsc"),
      variants: [
        .onCore(CoreSubject.self),
        .subject("serial-queue", SerialQueueCoreBaseline.self),
      ]),
    Case(
      "core.react", .synchronous,
      variants: [
        .subject("direct-event", DirectEventBaseline.self),
        .subject("direct", DirectBaseline.self),
      ]),
  ]
}

/// Reactors with a journal, and what a program without one does to keep its data.
extension Catalogue {
  static let journals: [Case] = [
    Case(
      "journal.send", .fanIn(.spinning),
      variants: [
        .subject("9-bytes", JournalSubject<SmallTally>.self, hasOrder: false),
        .subject("64-bytes", JournalSubject<LargeTally>.self, hasOrder: false),
        .subject("no-journal", CallerReactorSubject.self),
        .subject("sqlite", SQLiteBaseline<OneAction>.self, hasOrder: false),
        .subject("sqlite-grouped", SQLiteBaseline<ManyActions>.self, hasOrder: false),
      ]),
    Case(
      "journal.alone", .synchronous,
      variants: [
        .subject("64-bytes", JournalReplySubject.self, hasOrder: false),
        .subject("sqlite", SQLiteBaseline<OneAction>.self, hasOrder: false),
      ]),
    Case(
      "journal.encode", .synchronous,
      variants: [
        JournalEncoding.variant("by-hand", SmallRecord.self),
        JournalEncoding.variant("raw", PlainRecord.self),
        JournalEncoding.variant("codable", CodableRecord.self),
      ]),
    Case(
      "journal.replay", .synchronous,
      variants: [
        JournalReplay.variant("9-bytes", SmallTally.self),
        JournalReplay.variant("64-bytes", LargeTally.self),
      ]),
  ]
}

/// What streams cost. One thread sends and reduces. The variant `just` is the same in all cases.
extension Catalogue {
  static let streams: [Case] = [
    Case(
      "stream.send", .synchronous, limit: CaseOutline.Limit("limit.fetchadd"),
      variants: [
        .subject("stored", CallerReactorSubject.self),
        .subject("stored-action", ActionReactorSubject.self),
        .subject("attached", AttachedReactorSubject<Directly>.self),
        .subject("attached-action", AttachedReactorSubject<BySubject>.self),
      ]),
    Case(
      "stream.mutate", .synchronous, limit: CaseOutline.Limit("limit.fetchadd"),
      variants: [
        .subject("just", StreamSubject<Just>.self),
        .subject("of-2", StreamSubject<OfTwo>.self),
        .subject("concat-3-just", StreamSubject<ConcatOfThreeJust>.self),
        .subject("concat-3", StreamSubject<ConcatOfThree>.self),
      ]),
    Case(
      "stream.transform", .synchronous, limit: CaseOutline.Limit("limit.fetchadd"),
      variants: [
        .subject("just", StreamSubject<Just>.self),
        .subject("action", StreamSubject<TransformedAction>.self),
        .subject("mutation", StreamSubject<TransformedMutation>.self),
        .subject("state", StreamSubject<TransformedState>.self),
      ]),
    Case(
      "stream.observe", .synchronous, limit: CaseOutline.Limit("limit.fetchadd"),
      variants: [
        .subject("just", StreamSubject<Just>.self),
        .subject("1-observer", StreamSubject<OneObserver>.self),
        .subject("4-observers", StreamSubject<FourObservers>.self),
        .subject("map-distinct", StreamSubject<MappedDistinct>.self),
        .subject("pulse", StreamSubject<Pulsed>.self),
      ]),
  ]
}

/// What an action costs by the size of the state, while nobody reads: in a turn of its own, or in one of 1024 actions, since a
/// state is published once for each turn. And by the policy of its snapshots.
extension Catalogue {
  static let publishing: [Case] = [
    publishing("publish.16", of: SmallState.self),
    publishing("publish.256", of: WideState<30>.self),
    publishing("publish.512", of: WideState<62>.self),
    publishing("publish.array", of: ArrayState.self),
  ]

  private static func publishing<State: SizedState>(_ name: String, of: State.Type) -> Case {
    Case(
      name, .synchronous,
      variants: [
        .onCore(SizedReactorSubject<State, OnCaller>.self, hasOrder: false),
        .onCore(SizedRunsSubject<State, RunOfOne>.self, suffix: "-run-1", hasOrder: false),
        .onCore(SizedRunsSubject<State, RunOfTurn>.self, suffix: "-run-1024", hasOrder: false),
        .subject("copied", SizedReactorSubject<State, CopiedOnCaller>.self, hasOrder: false),
        .subject("on-demand", SizedReactorSubject<State, OnDemandOnCaller>.self, hasOrder: false),
        .subject("pthread-mutex", SizedMutexBaseline<State>.self, hasOrder: false),
        .subject("plain", SizedPlainBaseline<State>.self, hasOrder: false),
      ])
  }
}

/// What a change of one element costs, by the size of the state: while nobody reads, and while others do.
extension Catalogue {
  static let sizes: [Case] =
    [10, 1000, 10_000, 100_000, 1_000_000].map { changing("state.size.\($0)", $0, of: TableState.self) } + [
      changing("state.inline", InlineState.count, of: InlineState.self),
      changing("state.array", 100_000, of: LongArrayState.self),
    ]

  private static func changing<State: ElementState>(_ name: String, _ count: Int, of: State.Type) -> Case {
    Case(
      name, .sizes(SizedStateShape(count: count)),
      variants: [
        .elements("mutex", ElementMutexBaseline<State>.self),
        .onCore(ElementReactorSubject<State, OnCaller>.self),
        .onCore(ElementReactorSubject<State, OnLoop>.self, suffix: "-loop"),
        .elements("copied", ElementReactorSubject<State, CopiedOnCaller>.self),
        .elements("replayed", ElementReactorSubject<State, ReplayedOnCaller>.self),
        .elements("replayed-loop", ElementReactorSubject<State, ReplayedOnLoop>.self),
        .elements("pthread-rwlock", ElementReadWriteLockBaseline<State>.self),
        .elements("actor", ElementActorBaseline<State>.self),
      ])
  }
}

/// Threads that read while an owner reduces. An owner publishes after a turn of 1024 actions, or after each action. Compare rows that
/// publish alike: `c` with those whose names end in `-turn`, `reference` and `urcu`; `c-each` with the locks.
extension Catalogue {
  static let readers: [Case] = [
    Case(
      "readers", .readers,
      variants: [
        .onCore(ReadReactorSubject<Borrowed>.self),
        .onCore(ReadReactorSubject<Copied>.self, suffix: "-copied"),
        .reads("mutex-turn", LockedTurnReads<MutexLock>.self),
        .reads("pthread-mutex-turn", LockedTurnReads<PthreadMutexLock>.self),
        .reads("reference", ReferenceReads.self),
        .reads("urcu", RCUReads.self),
        .onCore(ReadTurnsOfOneSubject<Borrowed>.self, suffix: "-each"),
        .reads("mutex", LockedReads<MutexLock>.self),
        .reads("pthread-mutex", LockedReads<PthreadMutexLock>.self),
        .reads("pthread-rwlock", LockedReads<ReadWriteLock>.self),
      ])
  ]
}

/// Very many at once: what each costs while it is idle, and how fast all are together.
extension Catalogue {
  static let scale: [Case] = [
    Case(
      "scale.idle", .scale(.idle),
      variants: [
        .population("caller", ReactorPopulation<CallerHost>.self),
        .population("group", ReactorPopulation<GroupHost>.self),
        .population("actor", ActorPopulation.self),
        .population("mutex", LockedPopulation<MutexMember>.self),
        .population("pthread-mutex", LockedPopulation<PthreadMutexMember>.self),
      ]),
    Case(
      "scale.busy", .scale(.busy),
      variants: [
        .population("group", ReactorPopulation<GroupHost>.self),
        .population("caller", ReactorPopulation<CallerHost>.self),
        .population("actor", ActorPopulation.self),
        .population("mutex", LockedPopulation<MutexMember>.self),
        .population("pthread-mutex", LockedPopulation<PthreadMutexMember>.self),
      ]),
    Case(
      "scale.keyed", .scale(.keyed),
      variants: [
        .population("caller", KeyedReactorPopulation<CallerHost>.self),
        .population("group", KeyedReactorPopulation<GroupHost>.self),
        .population("by-index", ReactorPopulation<CallerHost>.self),
        .population("one-mutex", MutexDictionaryPopulation.self),
        .population("sharded-states", ShardedStatesPopulation.self),
        .population("sharded-actors", ShardedActorsPopulation.self),
      ]),
  ]
}

/// What the machine can do at best.
extension Catalogue {
  static let limits: [Case] = [
    Case(limit: "limit.spsc", .millionPerSecond, producers: 1, variant: .spsc),
    Case(limit: "limit.roundtrip", .nanoseconds, producers: 1, needsTwoCores: true, variant: .roundTrip),
    Case(limit: "limit.fetchadd", .nanoseconds, producers: 1, variant: .fetchAdd),
    Case(
      limit: "limit.fetchadd-contended", .millionPerSecond, producers: 2, needsTwoCores: true,
      variant: .fetchAddContended),
    Case(limit: "limit.futexwake", .nanoseconds, producers: 1, variant: .futexWake),
    Case(
      limit: "limit.wakeup", .nanoseconds, .latency(.parked, interval: 200_000), producers: 1,
      needsTwoCores: true,
      variant: .subject("limit", SleeperLimit.self)),
  ]
}
