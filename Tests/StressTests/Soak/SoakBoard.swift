import Glibc
import ReactorCore
import ReactorRuntime
import Synchronization
import TestSupport

/// The loops of one round, and the reactors that its threads use.
final class SoakBoard: Sendable {
  let tally = ParcelTally()
  let reactors = Lifetimes()
  let observers = Lifetimes()
  /// Tasks that have not ended.
  let tasks = Atomic(0)

  private let loops: [Loop]
  private let group: LoopGroup
  private let hosted: HostedLoop
  private let slots = Guarded<[SoakedReactor?]>([])
  private let numbers = Atomic(0)

  init(slots count: Int, _ generator: inout SplitMix64) {
    do {
      loops = [
        try Loop(name: "soak-parking", waiting: .parking, turnLimit: 3),
        try Loop(name: "soak-spinning", waiting: .spinning, turnLimit: 1024),
      ]
      group = try LoopGroup(name: "soak-group", count: 2, turnLimit: 16)
      hosted = try HostedLoop(name: "soak-hosted", turnLimit: 8)
    } catch {
      fatalError("no loops: \(error)")
    }
    for _ in 0..<count {
      let reactor = open(&generator)
      slots.with { $0.append(reactor) }
    }
  }

  /// A number that no other sender has.
  func number() -> Int { numbers.add(1, ordering: .relaxed).newValue }

  func open(_ generator: inout SplitMix64) -> SoakedReactor {
    let policies: [OverflowPolicy] = [.block, .block, .block, .fail, .dropNewest, .dropOldest, .dropOldest]
    return SoakedReactor(
      number(), on: placement(&generator), capacity: [1, 2, 4, 16, 64][generator.below(5)],
      overflow: policies[generator.below(policies.count)],
      reentrantCapacity: generator.happens(onceIn: 4) ? 2 : 4096, board: self,
      generator: SplitMix64(seed: generator.next()))
  }

  private func placement(_ generator: inout SplitMix64) -> Placement {
    switch generator.below(8) {
    case 0...2: .caller
    case 3...4: .loop(loops[generator.below(loops.count)])
    case 5: .group(group, key: generator.below(100))
    default: hosted.placement
    }
  }

  func pick(_ generator: inout SplitMix64) -> SoakedReactor? {
    let number = generator.next()
    return slots.with { $0.isEmpty ? nil : $0[Int(truncatingIfNeeded: number % UInt64($0.count))] }
  }

  func pickLoop(_ generator: inout SplitMix64) -> Loop {
    let all = loops + group.loops + [hosted.loop]
    return all[generator.below(all.count)]
  }

  /// Replaces a reactor with a new one, and returns the old one. The caller may hold the last reference to it.
  func replace(_ generator: inout SplitMix64) -> SoakedReactor? {
    let reactor = open(&generator)
    let number = generator.next()
    return slots.with { slots in
      let index = Int(truncatingIfNeeded: number % UInt64(slots.count))
      let old = slots[index]
      slots[index] = reactor
      return old
    }
  }

  /// Runs the hosted loop as a foreign loop does, and sends between the rounds, too.
  func runHosted(_ generator: SplitMix64, until isOver: () -> Bool) {
    var generator = generator
    let number = number()
    var sent = 0
    while !isOver() {
      var watched = pollfd(fd: hosted.descriptor, events: Int16(POLLIN), revents: 0)
      if poll(&watched, 1, 1) > 0 { hosted.run(rounds: 1 + generator.below(4)) }
      if generator.happens(onceIn: 8), let reactor = pick(&generator) {
        sent += 1
        Sending.random(&generator).send(Parcel(from: number, sent, by: tally), to: reactor)
      }
    }
  }

  /// Lets the reactors go.
  func clear() {
    let old = slots.with { slots in
      defer { slots = Array(repeating: nil, count: slots.count) }
      return slots
    }
    _ = consume old
  }

  /// Ends all loops. No other thread runs the hosted one by then. Returns what has not ended.
  func shutDown() -> String? {
    hosted.shutdown()
    do {
      try Shutdown.close(loops + [group], before: .now + .seconds(40))
      return nil
    } catch {
      return "\(error)"
    }
  }
}

/// A weak reference to the board, which holds the reactors.
final class WeakBoard: @unchecked Sendable {
  // Unchecked: it is written once, before other threads have it, and loading a weak reference is atomic.
  private(set) weak var board: SoakBoard?

  init(_ board: SoakBoard) { self.board = board }
}
