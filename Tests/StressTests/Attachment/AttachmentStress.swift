import Synchronization
import TestSupport
import Testing

@testable import ReactorCore

extension StressTests {
  /// Many threads attach, look up and let objects die.
  @Suite struct AttachmentStress {
    final class Thing: Sendable {}

    /// Uses the table in its deinit, which may run on a sweeping thread: under a mutex it would block forever.
    final class Using: Sendable {
      private let table: AttachmentTable
      init(_ table: AttachmentTable) { self.table = table }
      deinit { _ = table.value(of: self) }
    }

    @Test func `threads that touch the same new objects get one value each`() {
      Scenario.announce("first touch")
      let table = AttachmentTable()
      for round in 0..<StressMode.rounds(20) {
        Scenario("first touch, round \(round)").run { firstTouch(in: table, $0) }
      }
    }

    private func firstTouch(in table: AttachmentTable, _ scenario: Scenario) {
      let lifetimes = Lifetimes()
      do {
        let things = (0..<300).map { _ in Thing() }
        let crew = Crew(of: 16) { thread in
          var disturbance = Disturbance(scenario.generator(thread))
          return things.map { thing in
            disturbance.step()
            return table.value(of: thing) { lifetimes.track(thread) }
          }
        }
        let seen = crew.join()
        for (index, thing) in things.enumerated() {
          let value = table.value(of: thing)
          #expect(seen.allSatisfy { $0[index] === value }, "\(scenario): object \(index)")
        }
        #expect(lifetimes.alive == things.count, "\(scenario)")
      }
      table.sweep()
      // A background sweep may still hold what it has removed.
      #expect(Threads.yield { lifetimes.alive == 0 }, "\(scenario)")
    }

    @Test func `a new object at an old address begins without a value`() {
      Scenario.announce("address reuse")
      for round in 0..<StressMode.rounds(6) {
        Scenario("address reuse, round \(round)").run { churn(8, $0) }
      }
    }

    /// Each thread has some objects of its own, of two sizes, and lets them go in another order.
    private func churn(_ threads: Int, _ scenario: Scenario) {
      let table = AttachmentTable(sweepInterval: .never)
      let lifetimes = Lifetimes()
      let crew = Crew(of: threads) { thread in
        var disturbance = Disturbance(scenario.generator(thread))
        var living: [(object: any AnyObject & Sendable, number: Int)] = []
        var mixed = 0
        for step in 0..<3000 {
          disturbance.step()
          let number = thread << 32 | step
          let object: any AnyObject & Sendable = step % 2 == 0 ? Thing() : Shared(number)
          if Self.number(of: object, in: table) != nil { mixed += 1 }
          if Self.number(of: object, in: table, orAttach: { lifetimes.track(number) }) != number {
            mixed += 1
          }
          living.append((object, number))
          if disturbance.happens(onceIn: 500) { living.removeAll() }
          if living.count > 50 { living.swapAt(disturbance.below(living.count), living.count - 1) }
          if living.count > 50 { living.removeLast() }
          if let one = living.isEmpty ? nil : living[disturbance.below(living.count)],
            Self.number(of: one.object, in: table) != one.number
          {
            mixed += 1
          }
          if disturbance.happens(onceIn: 200) { table.sweep() }
        }
        return mixed
      }
      #expect(crew.join().allSatisfy { $0 == 0 }, "\(scenario)")
      table.sweep()
      #expect(lifetimes.alive == 0, "\(scenario)")
      #expect(table.wasCount == 0, "\(scenario)")
    }

    @Test func `look-ups find what is attached while the index changes`() {
      Scenario.announce("look-ups")
      for round in 0..<StressMode.rounds(6) {
        Scenario("look-ups, round \(round)").run { lookUpWhileResizing($0) }
      }
    }

    /// Two threads let the index grow and sweep it, three attach values to objects that die, three look up.
    private func lookUpWhileResizing(_ scenario: Scenario) {
      let table = AttachmentTable(sweepInterval: .milliseconds(1))
      let lifetimes = Lifetimes()
      do {
        let fixed = (0..<64).map { _ in Thing() }
        for (number, thing) in fixed.enumerated() { _ = table.value(of: thing) { lifetimes.track(number) } }
        let writers = Shared(Atomic(5))
        let crew = Crew(of: 8) { thread in
          var disturbance = Disturbance(scenario.generator(thread))
          guard thread < 5 else { return Self.lookUp(fixed, in: table, while: writers, &disturbance) }
          // Relaxed: it only ends the look-ups.
          defer { writers.value.subtract(1, ordering: .relaxed) }
          return thread < 2
            ? Self.resize(table, lifetimes, &disturbance) : Self.attachAndDie(table, lifetimes, &disturbance)
        }
        #expect(crew.join().allSatisfy { $0 == 0 }, "\(scenario)")
      }
      #expect(Threads.yield { lifetimes.alive == 0 && table.wasCount == 0 }, "\(scenario)")
    }

    /// Returns how many look-ups were wrong, as do the other threads' functions.
    private static func resize(
      _ table: AttachmentTable, _ lifetimes: Lifetimes, _ disturbance: inout Disturbance
    ) -> Int {
      var wrong = 0
      for _ in 0..<8 {
        let things = (0..<(1 + disturbance.below(1500))).map { _ in Thing() }
        for (number, thing) in things.enumerated() { _ = table.value(of: thing) { lifetimes.track(number) } }
        disturbance.stop()
        table.sweep()
        for (number, thing) in things.enumerated() where table.value(of: thing)?.value != number {
          wrong += 1
        }
      }
      return wrong
    }

    private static func attachAndDie(
      _ table: AttachmentTable, _ lifetimes: Lifetimes, _ disturbance: inout Disturbance
    ) -> Int {
      var wrong = 0
      for number in 0..<3000 {
        disturbance.step()
        let thing = Using(table)
        if table.value(of: thing) != nil { wrong += 1 }
        if table.value(of: thing, orAttach: { lifetimes.track(number) }).value != number { wrong += 1 }
        if disturbance.happens(onceIn: 4) { table.removeIfDead(ObjectIdentifier(thing)) }
        if table.value(of: thing)?.value != number { wrong += 1 }
      }
      return wrong
    }

    private static func lookUp(
      _ fixed: [Thing], in table: AttachmentTable, while writers: Shared<Atomic<Int>>,
      _ disturbance: inout Disturbance
    ) -> Int {
      var wrong = 0
      while writers.value.load(ordering: .relaxed) > 0 {
        disturbance.step()
        for (number, thing) in fixed.enumerated() where table.value(of: thing)?.value != number { wrong += 1 }
      }
      return wrong
    }

    // MARK: Objects of any class

    private static func number(of object: some AnyObject, in table: AttachmentTable) -> Int? {
      table.value(of: object)?.value
    }

    private static func number(
      of object: some AnyObject, in table: AttachmentTable, orAttach make: () -> LifetimeTracked
    ) -> Int { table.value(of: object, orAttach: make).value }
  }
}

extension AttachmentTable {
  /// These tests attach values of this type only.
  fileprivate func value(of object: some AnyObject) -> LifetimeTracked? {
    value(of: object, as: LifetimeTracked.self)
  }

  fileprivate func value(of object: some AnyObject, orAttach make: () -> LifetimeTracked) -> LifetimeTracked {
    value(of: object, as: LifetimeTracked.self, orAttach: make)
  }
}
