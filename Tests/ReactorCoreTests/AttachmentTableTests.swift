import Dispatch
import TestSupport
import Testing

@testable import ReactorCore

/// What look-ups find, and which sweep removes what. The tables of these tests have no background sweep, unless
/// a test is about it.
@Suite struct AttachmentTableTests {
  final class Thing: Sendable {}

  let table = AttachmentTable(sweepInterval: .never)
  let lifetimes = Lifetimes()

  @Test func `the value that was attached first stays`() {
    let (one, other) = (Thing(), Thing())
    #expect(table.value(of: one) == nil)
    let first = table.value(of: one) { lifetimes.track(1) }
    #expect(first.value == 1)
    #expect(table.value(of: one) { lifetimes.track(2) } === first)
    #expect(table.value(of: one) === first)
    #expect(table.value(of: other) == nil)
    #expect(table.wasCount == 1)
    #expect(lifetimes.total == 1)
  }

  @Test func `threads that are first together get the same value`() {
    for _ in 0..<50 {
      let thing = Thing()
      let seen = Record<Int>()
      let made = Lifetimes()
      let isDone = Threads.run(16) { thread in
        seen.append(table.value(of: thing) { made.track(thread) }.value)
      }
      #expect(isDone)
      #expect(seen.elements.count == 16)
      #expect(Set(seen.elements).count == 1)
      #expect(made.alive == 1)
    }
  }

  @Test func `every object is found while the table grows and after a sweep`() {
    let few = (0..<200).map { _ in Thing() }
    for (number, thing) in few.enumerated() { _ = table.value(of: thing) { lifetimes.track(number) } }
    do {
      let many = (0..<10_000).map { _ in Thing() }
      for (number, thing) in many.enumerated() { _ = table.value(of: thing) { lifetimes.track(number) } }
      for (number, thing) in many.enumerated() { #expect(table.value(of: thing)?.value == number) }
      for (number, thing) in few.enumerated() { #expect(table.value(of: thing)?.value == number) }
      #expect(table.wasCount == 10_200)
    }
    table.sweep()
    #expect(table.wasCount == 200)
    #expect(lifetimes.alive == 200)
    for (number, thing) in few.enumerated() { #expect(table.value(of: thing)?.value == number) }
  }

  // MARK: Addresses

  /// `AttachmentTable.swift` relies on this, and on nothing else, to tell objects apart by their addresses.
  @Test func `the address of a dead object is not used again before a sweep`() {
    var things = (0..<200).map { _ in Thing() }
    let addresses = Set(things.map { ObjectIdentifier($0) })
    let values = AttachmentIndex(things.map { AttachmentEntry($0, lifetimes.track()) })
    things = []
    let later = (0..<10_000).map { _ in Thing() }
    #expect(later.allSatisfy { !addresses.contains(ObjectIdentifier($0)) })
    #expect(values.entries.allSatisfy { $0.isDead })
  }

  @Test func `a new object never has the value of an old one`() {
    for number in 0..<20_000 {
      let thing = Thing()
      #expect(table.value(of: thing) == nil)
      let attached = table.value(of: thing) { lifetimes.track(number) }
      #expect(attached.value == number)
      if number % 100 == 0 { table.sweep() }
    }
  }

  // MARK: Sweeping

  @Test func `a value outlives its object until the next sweep`() {
    do {
      let things = (0..<100).map { _ in Thing() }
      for thing in things { _ = table.value(of: thing) { lifetimes.track() } }
      table.sweep()
      #expect(lifetimes.alive == 100)
      #expect(things.allSatisfy { table.value(of: $0) != nil })
    }
    table.sweep()
    #expect(lifetimes.alive == 0)
    #expect(table.wasCount == 0)
  }

  @Test func `the value of a single object is removed only if the object is dead`() {
    let living = Thing()
    var dying: Thing? = Thing()
    let identity = ObjectIdentifier(dying!)
    _ = table.value(of: living) { lifetimes.track() }
    _ = table.value(of: dying!) { lifetimes.track() }
    table.removeIfDead(identity)
    table.removeIfDead(ObjectIdentifier(living))
    #expect(lifetimes.alive == 2)
    dying = nil
    table.removeIfDead(identity)
    #expect(lifetimes.alive == 1)
    #expect(table.value(of: living) != nil)
    table.removeIfDead(identity)
    #expect(table.wasCount == 1)
  }

  @Test func `insertions sweep dead objects`() {
    let living = (0..<50).map { _ in Thing() }
    for thing in living { _ = table.value(of: thing) { lifetimes.track() } }
    var most = 0
    for _ in 0..<20_000 {
      _ = table.value(of: Thing()) { lifetimes.track() }
      most = max(most, table.wasCount)
    }
    #expect(most < 1000)
    #expect(lifetimes.alive == table.wasCount)
    #expect(living.allSatisfy { table.value(of: $0) != nil })
  }

  @Test func `the background sweep runs until the table is empty, and starts again with the next value`() {
    let table = AttachmentTable(sweepInterval: .milliseconds(5))
    func isSweepScheduled() -> Bool { table.isSweepScheduled.load(ordering: .relaxed) }
    for _ in 0..<3 {
      do {
        let living = Thing()
        _ = table.value(of: living) { lifetimes.track() }
        for _ in 0..<3 {
          _ = table.value(of: Thing()) { lifetimes.track() }
          #expect(Threads.yield { lifetimes.alive == 1 })
        }
        #expect(table.value(of: living) != nil)
      }
      #expect(Threads.yield { lifetimes.alive == 0 && !isSweepScheduled() })
      // It stays so. A sweep that goes on is not scheduled only while it runs.
      for _ in 0..<10_000 { DedicatedThread.yield() }
      #expect(!isSweepScheduled())
      #expect(table.wasCount == 0)
    }
  }

  @Test func `the values go away with the table`() {
    let things = (0..<100).map { _ in Thing() }
    do {
      let table = AttachmentTable()
      for thing in things { _ = table.value(of: thing) { lifetimes.track() } }
      #expect(lifetimes.alive == 100)
    }
    #expect(lifetimes.alive == 0)
  }
}

extension AttachmentTable {
  /// The tests attach values of this type only.
  func value(of object: some AnyObject) -> LifetimeTracked? { value(of: object, as: LifetimeTracked.self) }

  func value(of object: some AnyObject, orAttach make: () -> LifetimeTracked) -> LifetimeTracked {
    value(of: object, as: LifetimeTracked.self, orAttach: make)
  }
}
