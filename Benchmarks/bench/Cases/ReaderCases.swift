import ReactorCore

/// Threads that read while an owner reduces. The same number of actions is shown at once by all but the
/// locks, under which each action is seen.
extension Catalogue {
  static let readers: [Case] = [
    Case(
      "readers", .readers,
      variants: [
        .onCore(ReadReactorSubject<Borrowed>.self),
        .onCore(ReadReactorSubject<Copied>.self, suffix: "-copied"),
        .reads("mutex", LockedReads<MutexLock>.self),
        .reads("pthread-mutex", LockedReads<PthreadMutexLock>.self),
        .reads("pthread-rwlock", LockedReads<ReadWriteLock>.self),
        .reads("reference", ReferenceReads.self),
        .reads("urcu", RCUReads.self),
      ])
  ]
}
