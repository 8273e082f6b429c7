import TestSupport
import Testing

@testable import ReactorCore

/// One value for each object, and none for long after it.
@Suite struct AttachmentTableTests {
  final class Thing: Sendable {}

  /// Calls a closure when it goes away.
  final class Ending: Sendable {
    private let action: @Sendable (Ending) -> Void
    init(_ action: @escaping @Sendable (Ending) -> Void) { self.action = action }
    deinit { action(self) }
  }

  let table = AttachmentTable<LifetimeTracked>(sweepsInBackground: false)
  let lifetimes = Lifetimes()

  @Test func `what was attached first stays`() {
    let (one, other) = (Thing(), Thing())
    #expect(table.value(of: one) == nil)
    let first = table.value(of: one) { lifetimes.track(1) }
    #expect(first.value == 1)
    #expect(table.value(of: one) { lifetimes.track(2) } === first)
    #expect(table.value(of: one) === first)
    #expect(table.value(of: other) == nil)
    #expect(table.count == 1)
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

  @Test func `a replaced and a detached value is let go at once`() {
    let thing = Thing()
    table.replace(lifetimes.track(1), of: thing)
    table.replace(lifetimes.track(2), of: thing)
    #expect(table.value(of: thing)?.value == 2)
    #expect(lifetimes.alive == 1)
    #expect(table.count == 1)
    table.detach(from: thing)
    #expect(table.value(of: thing) == nil)
    #expect(lifetimes.alive == 0)
    #expect(table.count == 0)
    table.detach(from: thing)
    #expect(table.count == 0)
    #expect(table.value(of: thing) { lifetimes.track(3) }.value == 3)
  }

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
    #expect(table.count == 0)
    #expect(table.store.wasCapacity == 0)
  }

  @Test func `a single identity is swept if its object is dead`() {
    let living = Thing()
    var dying: Thing? = Thing()
    let identity = ObjectIdentifier(dying!)
    _ = table.value(of: living) { lifetimes.track() }
    _ = table.value(of: dying!) { lifetimes.track() }
    table.sweep(identity)
    table.sweep(ObjectIdentifier(living))
    #expect(lifetimes.alive == 2)
    dying = nil
    table.sweep(identity)
    #expect(lifetimes.alive == 1)
    #expect(table.value(of: living) != nil)
  }

  /// What the comparison of addresses rests on; see `AttachmentTable.swift`.
  @Test func `the address of a dead object is not given away before it is swept`() {
    var things = (0..<200).map { _ in Thing() }
    let addresses = Set(things.map { ObjectIdentifier($0) })
    for thing in things { _ = table.value(of: thing) { lifetimes.track() } }
    things = []
    let later = (0..<10_000).map { _ in Thing() }
    #expect(later.allSatisfy { !addresses.contains(ObjectIdentifier($0)) })
    #expect(lifetimes.alive == 200)
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

  @Test func `insertions sweep what is dead`() {
    let living = (0..<50).map { _ in Thing() }
    for thing in living { _ = table.value(of: thing) { lifetimes.track() } }
    var most = 0
    for _ in 0..<20_000 {
      _ = table.value(of: Thing()) { lifetimes.track() }
      most = max(most, table.count)
    }
    #expect(most < 1000)
    #expect(lifetimes.alive == table.count)
    #expect(living.allSatisfy { table.value(of: $0) != nil })
  }

  @Test func `the index follows the number of entries`() {
    let few = (0..<10).map { _ in Thing() }
    for (number, thing) in few.enumerated() { _ = table.value(of: thing) { lifetimes.track(number) } }
    do {
      let many = (0..<10_000).map { _ in Thing() }
      for (number, thing) in many.enumerated() { _ = table.value(of: thing) { lifetimes.track(number) } }
      for (number, thing) in many.enumerated() { #expect(table.value(of: thing)?.value == number) }
      #expect(table.store.wasCapacity >= 10_000)
      #expect(table.store.wasCapacity <= 8 * 10_000)
    }
    table.sweep()
    #expect(table.count == 10)
    #expect(table.store.wasCapacity <= 16 * AttachmentIndex.smallestCapacity)
    for (number, thing) in few.enumerated() { #expect(table.value(of: thing)?.value == number) }
  }

  @Test func `an object can be attached to and detached from for ever`() {
    let thing = Thing()
    let others = (0..<20).map { _ in Thing() }
    for other in others { _ = table.value(of: other) { lifetimes.track() } }
    for number in 0..<1000 {
      table.replace(lifetimes.track(number), of: thing)
      #expect(table.value(of: thing)?.value == number)
      table.detach(from: thing)
      #expect(others.allSatisfy { table.value(of: $0) != nil })
    }
    #expect(table.store.wasCapacity <= 256)
  }
}
