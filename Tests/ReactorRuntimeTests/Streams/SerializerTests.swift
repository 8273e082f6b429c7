import ReactorCore
import Synchronization
import TestSupport
import Testing

@testable import ReactorRuntime

/// How inputs of several threads become one sequence, and what happens when there are too many.
///
/// One after the other: those that sleep do so in one place, and would be woken by another test.
@Suite(.serialized) struct SerializerTests {
  @Test func anInputFromInsideComesAfterTheRunningOne() {
    let record = Record<String>()
    let link = Record<Serializer<Int, Int>>()
    let serializer = Serializer<Int, Int>(0) { sum, input in
      sum += input
      record.append("begin \(input)")
      if input == 1 { link.elements[0].submit(2) }
      record.append("end \(input), \(sum)")
    }
    link.append(serializer)
    serializer.submit(1)
    #expect(record.elements == ["begin 1", "end 1, 1", "begin 2", "end 2, 3"])
  }

  @Test func theStateGoesWithTheEnd() {
    let lifetimes = Lifetimes()
    let serializer = Serializer<LifetimeTracked?, Int>(lifetimes.track()) { _, _ in }
    serializer.submit(1)
    #expect(lifetimes.alive == 1)
    serializer.dispose()
    #expect(lifetimes.alive == 0)
  }

  @Test func anEndFromInsideDropsWhatIsWaitingAndTheState() {
    let lifetimes = Lifetimes()
    let handled = Record<Int>()
    let link = Record<Serializer<LifetimeTracked, LifetimeTracked>>()
    let serializer = Serializer<LifetimeTracked, LifetimeTracked>(lifetimes.track()) { _, input in
      handled.append(input.value)
      link.elements[0].submit(lifetimes.track(2))
      link.elements[0].dispose()
    }
    link.append(serializer)
    serializer.submit(lifetimes.track(1))
    serializer.submit(lifetimes.track(3))
    #expect(handled.elements == [1])
    #expect(lifetimes.alive == 0)
  }

  @Test func anEndFromOutsideDropsWhatIsWaiting() {
    let lifetimes = Lifetimes()
    let isInside = Gate()
    let mayGoOn = Gate()
    let serializer = Serializer<Void, LifetimeTracked?>(()) { _, input in
      guard input == nil else { return }
      isInside.open()
      _ = mayGoOn.wait()
    }
    let handler = Threads.start { serializer.submit(nil) }
    #expect(isInside.wait())
    serializer.submit(lifetimes.track())
    #expect(lifetimes.alive == 1)
    serializer.dispose()
    #expect(lifetimes.alive == 0)
    mayGoOn.open()
    #expect(handler.wait())
  }

  /// Who brings too much sleeps; disposal, or room, wakes it.
  @Test(arguments: [true, false])
  func aProducerSleepsUntilThereIsRoomOrAnEnd(isDisposed: Bool) {
    let limit = Crowd.limit
    let isInside = Gate()
    let mayGoOn = Gate()
    let serializer = Serializer<Int, Int>(0) { handled, input in
      handled += 1
      guard input == 0 else { return }
      isInside.open()
      _ = mayGoOn.wait()
    }
    let handler = Threads.start { serializer.submit(0) }
    #expect(isInside.wait())
    let brought = Shared(Atomic(0))
    let producer = Threads.start {
      for number in 1...10 * limit {
        serializer.submit(number)
        // Relaxed: a count to look at.
        brought.value.wrappingAdd(1, ordering: .relaxed)
      }
    }
    #expect(Threads.yield { brought.value.load(ordering: .relaxed) >= limit })
    // So that it has probably fallen asleep; the test holds in any case.
    for _ in 0..<1000 { DedicatedThread.yield() }
    #expect(brought.value.load(ordering: .relaxed) <= limit + 1)
    if isDisposed {
      serializer.dispose()
      #expect(producer.wait())
      mayGoOn.open()
    } else {
      #expect(!producer.isOpen)
      mayGoOn.open()
      #expect(producer.wait())
    }
    #expect(handler.wait())
  }
}
