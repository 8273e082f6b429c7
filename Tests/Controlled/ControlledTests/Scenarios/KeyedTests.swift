import ReactorRuntime
import Testing

extension Controlled {
  /// Reactors that come and go while others send to their key: one at a time, and no action is lost between two of them.
  @Suite struct KeyedTests {
    @Test(arguments: Place.allCases)
    func `what is sent while a reactor is passivated is processed by it or by the next one`(_ place: Place) {
      explore("sends and a passivation, \(place)", schedules: 800) {
        let ledger = Ledger()
        place.use { placement in
          let desk = Desk(ledger, on: placement)
          together(
            { desk.sendTwice() },
            { for _ in 0..<2 { desk.reactors.passivate(7) } },
            { ledger.send(10) { parcel throws(SendError) in try desk.reactors.trySend(parcel, to: 7) } })
          ledger.verifyAtRest()
          // Nothing was closed: each state was kept, and the last one is in its reactor.
          desk.reactors.passivate(7)
          awaitRest()
          check(desk.kept == 3, "\(desk.kept) of 3 actions are in the state that was kept")
          check(desk.reactors.count == 0, "a reactor that nobody uses was not passivated")
          ledger.willClose()
        }
        ledger.verify()
      }
    }

    @Test(arguments: Place.allCases, [Closing.drain, .discard])
    func `what is sent while a reactor is removed is processed or reported`(
      _ place: Place, _ closing: Closing
    ) {
      explore("sends and a removal by \(closing), \(place)") {
        let ledger = Ledger()
        place.use { placement in
          let desk = Desk(ledger, on: placement, removes: true)
          together(
            { desk.sendTwice() },
            {
              ledger.willClose()
              desk.reactors.remove(7, closing)
            },
            { desk.reactors.passivate(7) })
          ledger.verifyAtRest()
        }
        ledger.verify()
      }
    }

    @Test(arguments: Place.allCases)
    func `a removal is told beside no other call and before the next reactor is made`(_ place: Place) {
      explore("sends, a passivation and two removals, \(place)", schedules: 300) {
        let ledger = Ledger()
        place.use { placement in
          let desk = Desk(ledger, on: placement, tellsRemovals: true)
          ledger.willClose()
          together(
            { desk.sendTwice() },
            { desk.reactors.passivate(7) },
            { for _ in 0..<2 { desk.reactors.remove(7) } })
          ledger.verifyAtRest()
          desk.reactors.remove(7)
          awaitRest()
          check(desk.reactors.count == 0 && !desk.isThere, "something is left of a key that was removed")
        }
        ledger.verify()
      }
    }

    @Test(arguments: Place.allCases)
    func `a reactor that was closed is followed by the next one`(_ place: Place) {
      explore("sends, and a reactor that others close, \(place)", schedules: 300) {
        let ledger = Ledger()
        place.use { placement in
          let desk = Desk(ledger, on: placement)
          ledger.willClose()
          together(
            { desk.sendTwice() },
            { desk.reactors[7]?.close() },
            { desk.reactors.passivate(7) })
          // Whatever was refused before: this is not.
          ledger.send(10) { parcel throws(SendError) in try desk.reactors.trySend(parcel, to: 7) }
          awaitRest()
          ledger.verifyAtRest()
          check(ledger.reduced[10] != nil, "an action for a reactor that was closed is lost")
        }
        ledger.verify()
      }
    }

    @Test(arguments: Place.allCases)
    func `a collection that is closed keeps the state of its last reactor`(_ place: Place) {
      explore("sends, a passivation and the end of the collection, \(place)", schedules: 200) {
        let ledger = Ledger()
        place.use { placement in
          let desk = Desk(ledger, on: placement)
          together(
            { desk.sendTwice() },
            { desk.reactors.passivate(7) },
            {
              ledger.willClose()
              desk.reactors.close()
            })
          check(
            desk.reactors.finishClosing(before: .now + .seconds(60)).isEmpty, "the collection has not ended")
          ledger.hasEnded()
          check(desk.kept == ledger.reduced.count, "\(desk.kept) actions are in the state that was kept")
        }
        ledger.verify()
      }
    }
  }
}

/// Reactors by key, whose states are kept here.
private final class Desk: @unchecked Sendable {
  // Unchecked: one thread runs at a time, and what several threads change is changed without a point in between.
  private(set) var kept = 0
  /// Whether there is a reactor, or a state that was not kept.
  private(set) var isThere = false
  /// Whether one of the three closures runs.
  private var isInside = false
  private(set) var reactors: KeyedReactors<Int, Subject>!
  private let ledger: Ledger

  /// - Parameters:
  ///   - removes: Whether reactors are removed, whose states are not kept.
  ///   - tellsRemovals: Whether that is told.
  init(_ ledger: Ledger, on placement: Placement, removes: Bool = false, tellsRemovals: Bool = false) {
    self.ledger = ledger
    let tell: @Sendable (Int) -> Void = { [unowned self] _ in alone { isThere = false } }
    reactors = KeyedReactors(
      onFailure: { [ledger] in ledger.report($0) },
      onPassivate: { [unowned self] _, state in keep(state.count) },
      onRemove: tellsRemovals ? tell : nil,
      make: { [unowned self, ledger] _ in
        noteMaking(removes)
        return Subject(ledger, on: placement, capacity: 4)
      })
  }

  private func keep(_ count: Int) {
    alone {
      check(isThere, "a state was kept twice")
      kept += count
      isThere = false
    }
  }

  private func noteMaking(_ removes: Bool) {
    alone {
      check(!isThere || removes, "a reactor was made before the state of the one before was kept or removed")
      isThere = true
    }
  }

  /// Runs a part of a closure of the collection, of which one runs at a time.
  private func alone(_ body: () -> Void) {
    check(!isInside, "two closures of the collection run for the same key")
    isInside = true
    // Other threads run here.
    _ = reactors.count
    body()
    isInside = false
  }

  /// Sends actions 0 and 1 to the reactor of key 7.
  func sendTwice() {
    for id in 0..<2 { ledger.send(id) { reactors.send($0, to: 7) } }
  }
}
