import TestSupport
import Testing

@testable import ReactorCore

/// Code that runs while objects are made and go away uses the table, and so does the table's own sweep.
@Suite struct AttachmentLifetimeTests {
  typealias Thing = AttachmentTableTests.Thing
  typealias Ending = AttachmentTableTests.Ending

  let table = AttachmentTable<LifetimeTracked>(sweepsInBackground: false)
  let lifetimes = Lifetimes()

  final class Early: Sendable {
    let seen: LifetimeTracked?
    init(_ table: AttachmentTable<LifetimeTracked>, _ value: LifetimeTracked) {
      seen = nil
      _ = table.value(of: self) { value }
    }
  }

  @Test func `an object attaches to itself in its init`() {
    let value = lifetimes.track(7)
    let early = Early(table, value)
    #expect(table.value(of: early) === value)
    #expect(table.count == 1)
  }

  @Test func `the value is still there in the deinit of its object`() {
    let seen = Record<Int?>()
    do {
      let ending = Ending { seen.append(table.value(of: $0)?.value) }
      _ = table.value(of: ending) { lifetimes.track(1) }
    }
    #expect(seen.elements == [1])
  }

  @Test func `nothing is attached in the deinit of its object`() {
    let seen = Record<Int>()
    do {
      _ = Ending {
        seen.append(table.value(of: $0) { lifetimes.track(1) }.value)
        seen.append(table.store.wasInserted)
        table.replace(lifetimes.track(2), of: $0)
        seen.append(table.store.wasInserted)
        table.detach(from: $0)
      }
    }
    #expect(seen.elements == [1, 0, 0])
    #expect(lifetimes.alive == 0)
    #expect(table.count == 0)
  }

  @Test func `the deinit of a value may use the table`() {
    let endings = AttachmentTable<Ending>(sweepsInBackground: false)
    let living = Thing()
    let count = Lifetimes()
    for _ in 0..<100 {
      let value = Ending { _ in
        endings.sweep()
        _ = endings.value(of: living) { Ending { _ in } }
        endings.detach(from: living)
        // Gone at once again, for the next sweep.
        _ = endings.value(of: Thing()) { Ending { _ in _ = count.track() } }
      }
      _ = endings.value(of: Thing()) { value }
    }
    // Each sweep leaves what the values attached when they went away.
    #expect(Threads.start { while endings.count > 0 { endings.sweep() } }.wait())
    #expect(count.total == 100)
  }

  @Test func `making a value may use the table`() {
    // More things than shards, so that some share one.
    let things = (0..<64).map { _ in Thing() }
    func attach(from index: Int) -> LifetimeTracked {
      table.value(of: things[index]) {
        if index + 1 < things.count { _ = attach(from: index + 1) }
        return lifetimes.track(index)
      }
    }
    #expect(attach(from: 0).value == 0)
    for (index, thing) in things.enumerated() { #expect(table.value(of: thing)?.value == index) }
  }

  @Test func `making a value may attach it by itself`() {
    let thing = Thing()
    let outer = table.value(of: thing) {
      _ = table.value(of: thing) { lifetimes.track(1) }
      return lifetimes.track(2)
    }
    #expect(outer.value == 1)
    #expect(lifetimes.alive == 1)
  }

  @Test func `the values go away with the table`() {
    let things = (0..<100).map { _ in Thing() }
    do {
      let table = AttachmentTable<LifetimeTracked>()
      for thing in things { _ = table.value(of: thing) { lifetimes.track() } }
      #expect(lifetimes.alive == 100)
    }
    #expect(Threads.yield { lifetimes.alive == 0 })
  }

  @Test func `the background sweep empties the table and ends, and begins anew`() {
    let table = AttachmentTable<LifetimeTracked>()
    for _ in 0..<2 {
      do {
        let thing = Thing()
        _ = table.value(of: thing) { lifetimes.track() }
        #expect(table.store.wasSwept)
      }
      #expect(Threads.yield { lifetimes.alive == 0 })
      #expect(Threads.yield { !table.store.wasSwept })
      #expect(table.count == 0)
    }
  }

  // MARK: Look-ups under way

  @Test func `what was unlinked is kept until the look-ups before it have ended`() {
    let grace = GracePeriods()
    let pin = grace.pins.pin()
    grace.retire([lifetimes.track()])
    // Those that began later do not matter.
    let other = Threads.start { grace.pins.unpin(grace.pins.pin()) }
    #expect(other.wait())
    grace.retire([lifetimes.track()])
    #expect(lifetimes.alive == 2)
    #expect(grace.isHolding)
    grace.pins.unpin(pin)
    grace.retire([])
    #expect(lifetimes.alive == 0)
    #expect(!grace.isHolding)
  }

  @Test func `look-ups without end do not keep it for ever`() {
    let grace = GracePeriods()
    var pin = grace.pins.pin()
    grace.retire([lifetimes.track()])
    // At no time is nobody in the middle of a look-up.
    for _ in 0..<4 {
      let next = grace.pins.pin()
      grace.pins.unpin(pin)
      pin = next
      grace.retire([])
    }
    #expect(lifetimes.alive == 0)
    grace.pins.unpin(pin)
  }
}
