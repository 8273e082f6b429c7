#if DEBUG
  import TestSupport
  import Testing

  @testable import ReactorRuntime

  /// Tests of the warning about copies of a large state.
  @Suite struct CopyWatchTests {
    @Test func `only slow changes after copies are counted, and reported when there are many`() {
      var watch = CopyWatch()
      let (quick, slow) = (Duration.microseconds(10), Duration.milliseconds(1))
      // Without a change to compare with, it is not known whether the copy made it slow.
      #expect((0..<100).contains { _ in watch.note(slow, followsCopy: true) } == false)
      #expect((0..<100).contains { _ in watch.note(quick, followsCopy: false) } == false)
      #expect((0..<100).contains { _ in watch.note(quick, followsCopy: true) } == false)
      #expect((0..<100).contains { _ in watch.note(slow, followsCopy: false) } == false)
      let reports = (0..<2 * CopyWatch.limit).filter { _ in watch.note(slow, followsCopy: true) }
      #expect(reports == [CopyWatch.limit - 1, 2 * CopyWatch.limit - 1])
    }

    @Test func `changes that are always slow are not reported`() {
      var watch = CopyWatch()
      #expect((0..<100).contains { _ in watch.note(.milliseconds(1), followsCopy: false) } == false)
      #expect((0..<100).contains { _ in watch.note(.milliseconds(2), followsCopy: true) } == false)
    }

    @Test func `keeping states of a reactor with a large collection causes a warning`() {
      final class Large: Reactor {
        typealias Action = Int
        var initialState: [Int] { Array(repeating: 0, count: 1_000_000) }
        let runtime = Runtime<Int, Int, [Int]>(on: .caller)
        func reduce(into state: inout [Int], mutation: Int) { state[mutation] += 1 }
      }
      let hooked = HookedWarnings(about: Large.self)
      let reactor = Large()
      for action in 0..<100 { reactor.send(action) }
      #expect(hooked.kinds == [])
      for action in 0..<100 {
        let kept = reactor.currentState
        reactor.send(action)
        #expect(kept[action] == 1)
      }
      #expect(hooked.kinds == [.copiedState])
    }
  }
#endif
