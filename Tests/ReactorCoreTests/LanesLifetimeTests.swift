import ReactorCore
import TestSupport
import Testing

/// Elements that are still inside when the lanes are destroyed.
@Suite struct LanesLifetimeTests {
  @Test
  func `elements that were not received are destroyed with the lanes`() throws {
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
  func `elements sent after the last drain are destroyed with the lanes`() throws {
    let lifetimes = Lifetimes()
    do {
      let lanes = try Lanes<LifetimeTracked>(limit: 1, capacity: 16)
      var producer = try lanes.register()
      for index in 0..<5 { #expect(producer.trySend(lifetimes.track(index)).isAccepted) }
      // The consumer has seen five elements and received two; then three more are sent.
      #expect(lanes.received(upTo: 2).count == 2)
      for index in 5..<8 { #expect(producer.trySend(lifetimes.track(index)).isAccepted) }
      #expect(lifetimes.alive == 6)
    }
    #expect(lifetimes.alive == 0)
  }

  @Test
  func `more elements than one share are destroyed with the lanes`() throws {
    let lifetimes = Lifetimes()
    do {
      let lanes = try Lanes<LifetimeTracked>(limit: 1, capacity: 8192)
      var producer = try lanes.register()
      for index in 0..<8192 { #expect(producer.trySend(lifetimes.track(index)).isAccepted) }
    }
    #expect(lifetimes.alive == 0)
  }

  @Test
  func `a producer keeps the lanes alive`() throws {
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
