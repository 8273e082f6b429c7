import BenchmarkSupport
import PureSwiftCore
import ReactorCore

/// The same work with more of something, a case for each point. They are measured by `--curves`, or by name, since
/// they take as long as all other cases together.
extension Catalogue {
  static let curves: [Case] =
    producerCurve + capacityCurve + payloadCurve + subscriberCurve + reactorCurve + readerCurve

  private static let producerCurve: [Case] = [1, 2, 4, 8, 16, 32, 64].map { count in
    Case(
      curve: "curve.producers", at: count, of: "producers", .fanIn(.spinning), threads: count,
      variants: [
        .onCore(LoopReactorSubject.self),
        .subject("ring", RingSubject<CCore>.self),
        .subject("lanes", LaneSubject<CCore>.self),
        .subject("mutex", MutexBaseline.self),
        .subject("pthread-mutex", PthreadMutexBaseline.self),
        .subject("actor", ActorBaseline.self),
        .subject("dispatch", DispatchQueueBaseline.self),
        .subject("swapped-array", SwappedArrayBaseline.self),
      ])
  }

  private static let capacityCurve: [Case] = stride(from: 2, through: 20, by: 2).map { power in
    Case(
      curve: "curve.capacity", at: 1 << power, of: "slots", .fanIn(.spinning, capacity: 1 << power),
      threads: 2,
      variants: [
        .onCore(LoopReactorSubject.self),
        .subject("ring", RingSubject<CCore>.self),
        .subject("ring-swift", RingSubject<SwiftCore>.self),
        .subject("lanes", LaneSubject<CCore>.self),
      ])
  }

  private static let payloadCurve: [Case] = [
    payload(of: Payload<1>.self), payload(of: Payload<2>.self), payload(of: Payload<4>.self),
    payload(of: Payload<8>.self), payload(of: Payload<16>.self), payload(of: Payload<32>.self),
  ]

  private static func payload<Carried: CarryingAction>(of: Carried.Type) -> Case
  where Carried.Parts == Void {
    Case(
      curve: "curve.payload", at: MemoryLayout<Carried>.size, of: "bytes of an item", .fanIn(.busy),
      threads: 2,
      variants: [
        .subject("ring", PayloadRingSubject<CCore, Carried>.self),
        .subject("ring-swift", PayloadRingSubject<SwiftCore, Carried>.self),
        .onCore(CarryingReactorSubject<Carried>.self),
        .subject("mutex", CarryingMutexBaseline<Carried>.self),
      ])
  }

  private static let subscriberCurve: [Case] = [
    subscribers(0, Subscribers<0>.self), subscribers(1, Subscribers<1>.self),
    subscribers(2, Subscribers<2>.self), subscribers(4, Subscribers<4>.self),
    subscribers(8, Subscribers<8>.self), subscribers(16, Subscribers<16>.self),
    subscribers(32, Subscribers<32>.self), subscribers(64, Subscribers<64>.self),
  ]

  private static func subscribers<Shape: StreamShape>(_ count: Int, _: Shape.Type) -> Case {
    Case(
      curve: "curve.subscribers", at: count, of: "subscribers", .synchronous,
      variants: [
        .subject("reactor", StreamSubject<Shape>.self),
        .subject("callbacks", CallbacksBaseline<Shape>.self),
      ])
  }

  private static let reactorCurve: [Case] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000].map { count in
    Case(
      curve: "curve.reactors", at: count, of: "reactors", .scale(.growing, members: count),
      variants: [
        .population("group", ReactorPopulation<GroupHost>.self),
        .population("caller", ReactorPopulation<CallerHost>.self),
        .population("actor", ActorPopulation.self),
        .population("mutex", LockedPopulation<MutexMember>.self),
        .population("pthread-mutex", LockedPopulation<PthreadMutexMember>.self),
      ])
  }

  private static let readerCurve: [Case] = [0, 1, 2, 4, 8, 16, 32, 64].map { count in
    Case(
      curve: "curve.readers", at: count, of: "readers", .readers, threads: count,
      variants: [
        .onCore(ReadReactorSubject<Borrowed>.self),
        .reads("pthread-mutex-turn", LockedTurnReads<PthreadMutexLock>.self),
        .reads("urcu", RCUReads.self),
        .onCore(ReadTurnsOfOneSubject<Borrowed>.self, suffix: "-each"),
        .reads("pthread-mutex", LockedReads<PthreadMutexLock>.self),
        .reads("pthread-rwlock", LockedReads<ReadWriteLock>.self),
      ])
  }
}
