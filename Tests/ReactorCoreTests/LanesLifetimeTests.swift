import ReactorCore
import TestSupport
import Testing

/// What is still inside when lanes go away.
@Suite struct LanesLifetimeTests {
  @Test
  func `left overs are destroyed`() throws {
    let lifetimes = Lifetimes()
    do {
      let lanes = try Lanes<LifetimeTracked>(limit: 3, capacity: 8)
      var first = try lanes.register()
      var second = try lanes.register()
      for index in 0..<8 { #expect(first.trySend(lifetimes.track(index)).isAccepted) }
      for index in 0..<3 { #expect(second.trySend(lifetimes.track(index)).isAccepted) }
      #expect(first.trySend(lifetimes.track()).isAccepted == false)
      #expect(lifetimes.alive == 11)
      #expect(lanes.received(upTo: 2).map(\.value) == [0, 1])
      #expect(lifetimes.alive == 9)
    }
    #expect(lifetimes.alive == 0)
  }

  @Test
  func `left overs sent after the last look are destroyed`() throws {
    let lifetimes = Lifetimes()
    do {
      let lanes = try Lanes<LifetimeTracked>(limit: 1, capacity: 16)
      var producer = try lanes.register()
      for index in 0..<5 { #expect(producer.trySend(lifetimes.track(index)).isAccepted) }
      // The consumer has seen five and taken two; then three more come.
      #expect(lanes.received(upTo: 2).count == 2)
      for index in 5..<8 { #expect(producer.trySend(lifetimes.track(index)).isAccepted) }
      #expect(lifetimes.alive == 6)
    }
    #expect(lifetimes.alive == 0)
  }

  @Test
  func `more left overs than one share are destroyed`() throws {
    let lifetimes = Lifetimes()
    do {
      let lanes = try Lanes<LifetimeTracked>(limit: 1, capacity: 8192)
      var producer = try lanes.register()
      for index in 0..<8192 { #expect(producer.trySend(lifetimes.track(index)).isAccepted) }
    }
    #expect(lifetimes.alive == 0)
  }

  @Test
  func `producer keeps the lanes`() throws {
    let lifetimes = Lifetimes()
    func makeProducer() throws -> LaneProducer<LifetimeTracked> {
      try Lanes<LifetimeTracked>(limit: 1, capacity: 2).register()
    }
    do {
      var producer = try makeProducer()
      #expect(producer.trySend(lifetimes.track()).isAccepted)
      #expect(lifetimes.alive == 1)
    }
    #expect(lifetimes.alive == 0)
  }
}
