import AllocationCounting
import ReactorRuntime

/// The memory of very many reactors.
extension Work {
  /// Bytes for each of many reactors, without their objects; nil if this work is none of reactors' memory.
  func bytesPerReactor() throws -> Double? {
    switch self {
    case .newOnCaller: Self.bytes(on: .caller) { _ in }
    case .usedOnCaller: Self.bytes(on: .caller, Self.use)
    case .closedOnCaller:
      Self.bytes(on: .caller) { reactors in
        Self.use(reactors)
        for reactor in reactors { reactor.close() }
      }
    case .newOnLoop: try Self.bytesOnLoop { _, _ in }
    case .usedOnLoop:
      try Self.bytesOnLoop { reactors, hosted in
        for index in 0..<3 {
          for reactor in reactors { reactor.send(index) }
          // A loop keeps a reactor for a few rounds.
          for _ in 0..<1000 { _ = hosted.run() }
        }
      }
    default: nil
    }
  }

  private static func use(_ reactors: ContiguousArray<Summing>) {
    for index in 0..<3 { for reactor in reactors { reactor.send(index) } }
  }

  private static func bytesOnLoop(
    _ use: (ContiguousArray<Summing>, HostedLoop) -> Void
  ) throws -> Double {
    let hosted = try HostedLoop()
    return bytes(on: hosted.placement) { use($0, hosted) }
  }

  /// Uses some before, so that what all share is there.
  private static func bytes(on placement: Placement, _ use: (ContiguousArray<Summing>) -> Void) -> Double {
    let count = 20_000
    let stream: @Sendable (Int) -> Observable<Int> = { .just($0) }
    func make(_ count: Int, into reactors: inout ContiguousArray<Summing>) {
      for _ in 0..<count { reactors.append(Summing(on: placement, stream: stream)) }
    }
    var (first, reactors) = (ContiguousArray<Summing>(), ContiguousArray<Summing>())
    reactors.reserveCapacity(count)
    make(count, into: &first)
    use(first)
    guard let before = MemoryUse.now() else { return .nan }
    make(count, into: &reactors)
    use(reactors)
    guard let after = MemoryUse.now() else { return .nan }
    // Also keeps the first ones alive until here.
    let object = MemoryUse.size(of: first[0])
    return Double(after.allocated - before.allocated) / Double(count) - Double(object)
  }
}
