import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Tests of actions that are sent while another action is processed.
@Suite struct ReentrancySemanticsTests {
  /// The place from which the action is sent.
  enum Origin: CaseIterable, Sendable { case mutate, reduce, subscriber, actionObserver }

  @Test(arguments: PlacementUnderTest.allCases)
  func `11. An action sent inside a turn is queued, and currentState is unchanged when the send returns`(
    _ placement: PlacementUnderTest
  ) throws {
    func body(origin: Origin) throws {
      let stage = try Stage(placement)
      @Sendable func send(_ play: Play, _ source: Origin, _ isTime: Bool) {
        guard source == origin, isTime else { return }
        let before = play.currentState
        play.send(["b", "c"])
        #expect(play.currentState == before)
      }
      let play = Play(on: stage.placement) {
        $0.mutate = { play, action in
          send(play, .mutate, action == "a")
          return .of(action + "1", action + "2")
        }
        $0.reduce = { play, state, mutation in
          send(play, .reduce, mutation == "a1")
          return state + [mutation]
        }
      }
      play.action.subscribe(onNext: { [unowned play] in send(play, .actionObserver, $0 == "a") })
      play.state.subscribe(onNext: { [unowned play] in send(play, .subscriber, $0 == ["a1"]) })
      play.send(["a"])
      #expect(stage.finish())
      #expect(play.currentState == ["a1", "a2", "b1", "b2", "c1", "c2"])
    }
    for origin in Origin.allCases { try body(origin: origin) }
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `11. Every observer gets state n before any observer gets state n + 1`(_ placement: PlacementUnderTest)
    throws
  {
    let stage = try Stage(placement)
    let log = Record<[Int]>()
    let play = Play(on: stage.placement)
    for number in 0..<3 {
      play.state.subscribe(onNext: { [unowned play] state in
        log.append([state.count, number])
        if !state.isEmpty, state.count < 20 { play.action.onNext("by \(number)") }
      })
    }
    #expect(play.settle())
    play.send(["a"])
    #expect(stage.finish())
    let states = log.elements.map { $0[0] }
    #expect(states == states.sorted())
    #expect(log.elements.prefix(15).map { $0[1] } == Array([0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2]))
    #expect(states.last == 1 + 19 * 3)
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `12. The synchronous part of an action finishes before the next starts`(
    _ placement: PlacementUnderTest
  ) throws {
    func body(kind: String) throws {
      let stage = try Stage(placement)
      let log = Record<String>()
      let play = Play(on: stage.placement) {
        $0.mutate = { play, action in
          log.append("mutate \(action)")
          let elements = action == "a" ? ["1", "2", "3", "4"] : ["101", "102"]
          switch kind {
          case "known": return .from(elements)
          case "created":
            return .create { observer in
              for element in elements { observer.onNext(element) }
              return Disposables.create()
            }
          default: return .concat(elements.map { element in .deferred { .just(element) } })
          }
        }
      }
      play.state.subscribe(onNext: { [unowned play] state in
        log.append(state.last ?? "")
        if state.last == "1" { play.action.onNext("b") }
      })
      play.send(["a"])
      #expect(stage.finish())
      #expect(log.elements == ["", "mutate a", "1", "2", "3", "4", "mutate b", "101", "102"])
    }
    for kind in ["known", "created", "concat"] { try body(kind: kind) }
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `14. An action sent in the first replayed callback of a subscription reaches that same subscriber`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let seen = Record<[String]>()
    let play = Play(on: stage.placement)
    play.send(["a"])
    play.state.subscribe(onNext: { [unowned play] state in
      seen.append(state)
      if state == ["a"] { play.action.onNext("b") }
    })
    #expect(stage.finish())
    #expect(seen.elements == [["a"], ["a", "b"]])
  }
}
