import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Several loops, with one of them for each key.
@Suite struct LoopGroupTests {
  private enum Region: String { case north, south }
  private struct Place: Hashable { let x: Int, y: Int }

  @Test
  func `equal keys have the same loop`() throws {
    let group = try LoopGroup(name: "group", count: 5)
    #expect(group.map(\.name) == ["group-0", "group-1", "group-2", "group-3", "group-4"])
    for key in 0..<200 {
      let loop = group.loop(for: key)
      #expect(loop === group.loop(for: key))
      // By its value, whatever its type is, and whether or not the compiler knows it.
      #expect(loop === group.loop(for: UInt32(key)))
      #expect(loop === group.loop(for: UInt64(key)))
      #expect(loop === group.loop(for: AnyHashable(key)))
      #expect(loop === group.loop(for: Int16(key)))
      #expect(group.loop(for: "\(key)") === group.loop(for: Substring("\(key)")))
      #expect(group.loop(for: Place(x: key, y: 0)) === group.loop(for: Place(x: key, y: 0)))
    }
    #expect(group.loop(for: Region.north) === group.loop(for: "north"))
    #expect(Threads.start { group.shutdown() }.wait())
  }

  /// And in every version: these numbers were written down once.
  @Test func `the loop of a key is the same in every run`() throws {
    let group = try LoopGroup(count: 8)
    func indices(_ keys: [some Hashable & Sendable]) -> [Int?] {
      keys.map { key in group.firstIndex { $0 === group.loop(for: key) } }
    }
    #expect(indices([0, 1, 2, 3, -1, 1_000_000, .max, .min]) == [7, 4, 4, 0, 7, 3, 1, 2])
    #expect(indices(["", "a", "b", "order-1", "order-2", "Ünïcödé"]) == [6, 2, 2, 2, 1, 2])
    #expect(Threads.start { group.shutdown() }.wait())
  }

  @Test func `keys are spread evenly over the loops`() throws {
    let group = try LoopGroup(count: 4)
    for keys in [(0..<4000).map { "\($0)" as any Hashable & Sendable }, (0..<4000).map { $0 * 1024 }] {
      let counts = keys.reduce(into: [ObjectIdentifier: Int]()) {
        $0[ObjectIdentifier(group.loop(for: $1)), default: 0] += 1
      }
      #expect(counts.count == 4)
      #expect(counts.values.allSatisfy { (800...1200).contains($0) })
    }
    #expect(Threads.start { group.shutdown() }.wait())
  }

  @Test
  func `reactors run on the loop of their key`() throws {
    let group = try LoopGroup(count: 3)
    let wrong = Record<Int>()
    let reactors = (0..<300).map { key in
      Script(
        on: .group(group, key: key),
        mutate: { _, action in
          if !group.loop(for: key).isCurrent { wrong.append(key) }
          return .just(action)
        })
    }
    #expect(
      Threads.run(2) { thread in
        for reactor in reactors { reactor.send(thread) }
      })
    #expect(Threads.start { group.shutdown() }.wait())
    #expect(wrong.elements == [])
    #expect(reactors.allSatisfy { $0.currentState.sorted() == [0, 1] })
    // Closed twice.
    group.shutdown()
  }

  @Test
  func `a group may be shut down inside of all its loops at once`() throws {
    for _ in 0..<20 {
      let group = try LoopGroup(count: 4)
      let areInside = Gate(count: group.count)
      let haveReturned = Gate(count: group.count)
      for loop in group {
        try loop.execute {
          areInside.open()
          _ = areInside.wait()
          group.shutdown()
          haveReturned.open()
        }
      }
      #expect(areInside.wait())
      try #require(Threads.start { group.shutdown() }.wait(seconds: 60))
      #expect(haveReturned.wait())
    }
  }

  @Test func `a group has as many loops as there are processors`() throws {
    let group = try LoopGroup()
    #expect(group.count == DedicatedThread.processorCount)
    #expect(Threads.start { group.shutdown() }.wait())
    let placed = try LoopGroup(processors: [0, 0, 0])
    #expect(placed.count == 3)
    #expect(Threads.start { placed.shutdown() }.wait())
  }

  @Test func `a processor that does not exist is an error`() {
    for processors in [[0, 9999], [-1], [0, 0, .max]] {
      #expect(throws: CoreError.processorIsInvalid) { _ = try LoopGroup(processors: processors) }
    }
  }

  @Test func `impossible counts stop the program`() async {
    let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = try LoopGroup(count: 0)
    }
    #expect(stop?.standardErrorContent.says("is to have 0 loops") == true)
    let stop2 = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = try LoopGroup(processors: [])
    }
    #expect(stop2?.standardErrorContent.says("is to have 0 loops") == true)
    let stop3 = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = try LoopGroup(count: 2, processors: [0])
    }
    #expect(stop3?.standardErrorContent.says("is to have 2 loops on 1 processors") == true)
  }

  @Test func `a group that is closed inside of several of its loops does not wait`() throws {
    let group = try LoopGroup(count: 2)
    let (areInside, areDone) = (Gate(count: 2), Gate(count: 2))
    let found = Record<Unfinished.Occupation>()
    for loop in group {
      try loop.execute {
        areInside.open()
        _ = areInside.wait()
        do throws(ShutdownError) {
          try Shutdown.close([group], before: .now + .seconds(1))
        } catch {
          if case .unfinished(let parts) = error { for part in parts { found.append(part.occupation) } }
        }
        areDone.open()
      }
    }
    #expect(areDone.wait())
    #expect(found.elements == [.closesItself, .closesItself])
    #expect(Threads.start { group.shutdown() }.wait())
  }
}
