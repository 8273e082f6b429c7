import ReactorCore
import TestSupport
import Testing

extension StressTests {
  /// Many threads attach, look up and let objects die.
  @Suite struct AttachmentStress {
    final class Thing: Sendable {}

    @Test func `threads that touch the same new objects get one value each`() {
      Scenario.announce("first touch")
      let table = AttachmentTable<LifetimeTracked>()
      for round in 0..<StressMode.rounds(20) {
        Scenario("first touch, round \(round)").run { firstTouch(in: table, $0) }
      }
    }

    private func firstTouch(in table: AttachmentTable<LifetimeTracked>, _ scenario: Scenario) {
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
      // The background sweep may be in the middle of a look.
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
      let table = AttachmentTable<LifetimeTracked>(sweepsInBackground: false)
      let lifetimes = Lifetimes()
      let crew = Crew(of: threads) { thread in
        var disturbance = Disturbance(scenario.generator(thread))
        var living: [(object: any AnyObject & Sendable, number: Int)] = []
        var mixed = 0
        for step in 0..<3000 {
          disturbance.step()
          let number = thread << 32 | step
          let object: any AnyObject & Sendable = step % 2 == 0 ? Thing() : Shared(number)
          if Self.value(of: object, in: table) != nil { mixed += 1 }
          if Self.attach(lifetimes.track(number), to: object, in: table) != number { mixed += 1 }
          living.append((object, number))
          if disturbance.happens(onceIn: 500) { living.removeAll() }
          if living.count > 50 { living.swapAt(disturbance.below(living.count), living.count - 1) }
          if living.count > 50 { living.removeLast() }
          if let one = living.isEmpty ? nil : living[disturbance.below(living.count)],
            Self.value(of: one.object, in: table) != one.number
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
      #expect(table.count == 0, "\(scenario)")
    }

    private static func value(
      of object: some AnyObject, in table: AttachmentTable<LifetimeTracked>
    ) -> Int? { table.value(of: object)?.value }

    private static func attach(
      _ value: LifetimeTracked, to object: some AnyObject, in table: AttachmentTable<LifetimeTracked>
    ) -> Int { table.value(of: object) { value }.value }

    @Test func `look-ups find what is attached while the index changes`() {
      Scenario.announce("look-ups")
      for round in 0..<StressMode.rounds(6) {
        Scenario("look-ups, round \(round)").run { lookUpWhileResizing($0) }
      }
    }

    /// Two threads let the index grow and shrink, one replaces values, two attach and detach, three look up.
    private func lookUpWhileResizing(_ scenario: Scenario) {
      let table = AttachmentTable<LifetimeTracked>()
      let lifetimes = Lifetimes()
      do {
        let fixed = (0..<64).map { _ in Thing() }
        for (number, thing) in fixed.enumerated() { _ = table.value(of: thing) { lifetimes.track(number) } }
        let replaced = Thing()
        table.replace(lifetimes.track(0), of: replaced)
        let crew = Crew(of: 8) { thread in
          var disturbance = Disturbance(scenario.generator(thread))
          switch thread {
          case 0, 1: return Self.resize(table, lifetimes, &disturbance)
          case 2:
            for number in 1...3000 {
              disturbance.step()
              table.replace(lifetimes.track(number), of: replaced)
            }
            return 0
          case 3, 4: return Self.attachAndDetach(table, lifetimes, &disturbance)
          default: return Self.lookUp(fixed, replaced, in: table, &disturbance)
          }
        }
        #expect(crew.join().allSatisfy { $0 == 0 }, "\(scenario)")
        #expect(table.value(of: replaced)?.value == 3000, "\(scenario)")
      }
      #expect(Threads.yield { lifetimes.alive == 0 && table.count == 0 }, "\(scenario)")
    }

    private static func resize(
      _ table: AttachmentTable<LifetimeTracked>, _ lifetimes: Lifetimes, _ disturbance: inout Disturbance
    ) -> Int {
      for _ in 0..<8 {
        let things = (0..<(1 + disturbance.below(1500))).map { _ in Thing() }
        for thing in things { _ = table.value(of: thing) { lifetimes.track(-1) } }
        disturbance.stop()
        for thing in things where disturbance.happens(onceIn: 2) { table.detach(from: thing) }
        withExtendedLifetime(things) {}
      }
      return 0
    }

    private static func attachAndDetach(
      _ table: AttachmentTable<LifetimeTracked>, _ lifetimes: Lifetimes, _ disturbance: inout Disturbance
    ) -> Int {
      let thing = Thing()
      var wrong = 0
      for number in 0..<3000 {
        disturbance.step()
        if table.value(of: thing) != nil { wrong += 1 }
        if table.value(of: thing, orAttach: { lifetimes.track(number) }).value != number { wrong += 1 }
        if table.value(of: thing)?.value != number { wrong += 1 }
        table.detach(from: thing)
      }
      return wrong
    }

    private static func lookUp(
      _ fixed: [Thing], _ replaced: Thing, in table: AttachmentTable<LifetimeTracked>,
      _ disturbance: inout Disturbance
    ) -> Int {
      var (wrong, last) = (0, 0)
      while last < 3000 {
        disturbance.step()
        for (number, thing) in fixed.enumerated() where table.value(of: thing)?.value != number { wrong += 1 }
        guard let seen = table.value(of: replaced)?.value, seen >= last else {
          wrong += 1
          continue
        }
        last = seen
      }
      return wrong
    }
  }
}
