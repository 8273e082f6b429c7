import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Tests of reactors that send to each other from inside their turns.
@Suite struct NestingTests {
  @Test
  func `13. On the caller, a send to an idle reactor from an observer of another one runs at once`() throws {
    let log = Record<String>()
    let (first, second) = (Play(on: .caller), Play(on: .caller))
    second.state.skip(1).subscribe(onNext: { log.append("second \($0)") })
    first.state.skip(1).subscribe(onNext: { state in
      log.append("first begins \(state)")
      second.action.onNext("from first")
      #expect(second.currentState.count == state.count)
      log.append("first ends")
    })
    first.send(["a"])
    #expect(log.elements == [#"first begins ["a"]"#, #"second ["from first"]"#, "first ends"])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `13. Reactors in a ring that send to each other from several threads do not deadlock`(
    _ placement: PlacementUnderTest
  ) throws {
    let (count, hops) = (3, 30)
    let stages = try (0..<count).map { _ in try Stage(placement) }
    let ring = stages.map { Play(on: $0.placement, capacity: 4096) }
    for (play, next) in zip(ring, ring[1...] + ring[..<1]) {
      // Sends the last number on, decremented by one.
      play.state.skip(1).subscribe(onNext: { [unowned next] state in
        guard let last = state.last, let left = Int(last), left > 0 else { return }
        next.action.onNext("\(left - 1)")
      })
    }
    #expect(Threads.run(count) { index in for _ in 0..<20 { ring[index].action.onNext("\(hops)") } })
    let expected = count * 20 * (hops + 1)
    #expect(Threads.yield { ring.map(\.currentState.count).reduce(0, +) == expected })
    for stage in stages { #expect(stage.finish()) }
    #expect(ring.flatMap(\.reports) == [])
  }

  @Test
  func `13. The depth of nesting is bounded, so a long chain of reactors runs to its end`() throws {
    // The reactors are new or already used, and send by `send` or by `action`.
    for isNew in [true, false] {
      let chain = (0..<10_000).map { _ in Link() }
      for (link, next) in zip(chain, chain.dropFirst()) { link.next.value = next }
      if !isNew { for link in chain { link.send(0) } }
      chain[0].send(1)
      #expect(Threads.yield { chain[9_999].currentState == 1 })
      #expect(Threads.yield { chain.allSatisfy { $0.currentState == 1 } })
    }
  }

  @Test
  func `13. Two reactors that send to each other nest only once`() throws {
    let depth = Box((now: 0, most: 0))
    let players = Box<[Play]>([])
    players.value = (0..<2).map { index in
      Play(on: .caller) {
        $0.reduce = { [$1[0], $2] }
        $0.initial = { _ in ["\(index)", ""] }
        $0.mutate = { _, action in
          depth.value.now += 1
          depth.value.most = max(depth.value.most, depth.value.now)
          if let left = Int(action), left > 0 {
            players.value[1 - index].action.onNext("\(left - 1)")
          }
          depth.value.now -= 1
          return .just(action)
        }
      }
    }
    players.value[0].send(["100000"])
    #expect(players.value.map { $0.currentState[1] } == ["0", "1"])
    #expect(depth.value.most == 2)
    players.value = []
  }
}

/// A reactor of a chain.
private final class Link: Reactor {
  typealias Action = Int
  typealias State = Int
  let initialState = 0
  let runtime = Runtime<Int, Int, Int>(on: .caller, capacity: 2)
  let next = Box<Link?>(nil)

  func mutate(action: Int) -> Observable<Int> {
    guard action > 0, let next = next.value else { return .just(action) }
    if action % 2 == 0 { next.send(action) } else { next.action.onNext(action) }
    return .just(action)
  }

  func reduce(into state: inout Int, mutation: Int) { state += mutation }
}
