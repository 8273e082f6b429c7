import BenchmarkSupport
import ReactorCore

/// Reactors, and what one would use instead of them.
extension Catalogue {
  static let reactors: [Case] = [
    Case(
      "reactor.loop", .fanIn(.spinning), limit: CaseOutline.Limit("limit.spsc"),
      variants: [
        .onCore(LoopReactorSubject.self),
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
      "sync.uncontended", .synchronous, limit: CaseOutline.Limit("limit.fetchadd"),
      variants: [
        .onCore(CallerReactorSubject.self),
        .subject("mutex", MutexBaseline.self),
        .subject("pthread-mutex", PthreadMutexBaseline.self),
        .subject("dispatch", DispatchQueueSyncBaseline.self),
        .subject("actor", ActorBaseline.self),
      ]),
  ]
}
