import Synchronization
import TestSupport
import Testing

@testable import ReactorCore

/// Inits, deinits and `make` use the table while the table calls them. If one of them ran under a mutex of the
/// table, its thread would block forever, so these tests have threads of their own.
@Suite struct AttachmentLifetimeTests {
  typealias Thing = AttachmentTableTests.Thing

  /// Calls a closure when it goes away.
  final class Ending: Sendable {
    private let action: @Sendable (Ending) -> Void
    init(_ action: @escaping @Sendable (Ending) -> Void) { self.action = action }
    deinit { action(self) }
  }

  let table = AttachmentTable(sweepInterval: .never)
  let lifetimes = Lifetimes()

  final class Early: Sendable {
    let seen: LifetimeTracked?
    init(_ table: AttachmentTable, _ value: LifetimeTracked) {
      seen = nil
      _ = table.value(of: self) { value }
    }
  }

  @Test func `an object attaches a value to itself in its init`() {
    let value = lifetimes.track(7)
    let early = Early(table, value)
    #expect(table.value(of: early) === value)
    #expect(table.wasCount == 1)
  }

  @Test func `an object finds its value in its deinit`() {
    let seen = Record<Int?>()
    do {
      let ending = Ending { seen.append(table.value(of: $0)?.value) }
      _ = table.value(of: ending) { lifetimes.track(1) }
    }
    #expect(seen.elements == [1])
  }

  @Test func `a value that an object attaches in its deinit is not kept`() {
    let seen = Record<Int>()
    do {
      _ = Ending {
        seen.append(table.value(of: $0) { lifetimes.track(1) }.value)
        seen.append(table.wasCount)
      }
    }
    #expect(seen.elements == [1, 0])
    #expect(lifetimes.alive == 0)
  }

  @Test func `an object removes its value in its deinit`() {
    do {
      let ending = Ending { table.removeIfDead(ObjectIdentifier($0)) }
      _ = table.value(of: ending) { lifetimes.track() }
      #expect(lifetimes.alive == 1)
    }
    #expect(lifetimes.alive == 0)
  }

  @Test func `the deinit of a value may use the table`() {
    let endings = Lifetimes()
    let isDone = Threads.start { [table] in
      let living = Thing()
      @Sendable func attach(_ value: Ending, to object: Thing) {
        _ = table.value(of: object, as: Ending.self) { value }
      }
      attach(Ending { _ in }, to: living)
      for _ in 0..<1000 {
        let value = Ending { _ in
          _ = endings.track()
          table.sweep()
          table.removeIfDead(ObjectIdentifier(living))
          if table.value(of: living, as: Ending.self) == nil { return }
          // Dead at once, for the next sweep.
          attach(Ending { _ in _ = endings.track() }, to: Thing())
        }
        attach(value, to: Thing())
      }
      while table.wasCount > 1 { table.sweep() }
    }
    #expect(isDone.wait())
    #expect(endings.total == 2000)
  }

  @Test func `the deinit of a value that lost to another may use the table`() {
    let seen = Record<Bool>()
    let isDone = Threads.start { [table] in
      let thing = Thing()
      let first = Ending { _ in }
      _ = table.value(of: thing, as: Ending.self) {
        _ = table.value(of: thing, as: Ending.self) { first }
        return Ending { _ in seen.append(table.value(of: thing, as: Ending.self) === first) }
      }
    }
    #expect(isDone.wait())
    #expect(seen.elements == [true])
  }

  @Test func `the deinit of an object may use the table on the thread that sweeps`() {
    let latest = Shared(Atomic<ObjectIdentifier?>(nil))
    let swept = Shared(Atomic(0))
    let isFinished = Shared(Atomic(false))
    let isDone = Threads.run(2) { [table, lifetimes] thread in
      if thread == 1 {
        while !isFinished.value.load(ordering: .relaxed) {
          if let object = latest.value.load(ordering: .relaxed) { table.removeIfDead(object) }
        }
        return
      }
      // A sweep retains an object for a moment. This goes on until three objects were released by this thread
      // in such a moment, so that their deinits ran on the other thread.
      let own = CCore.threadToken
      for number in 0..<300_000 where swept.value.load(ordering: .relaxed) < 3 {
        let ending = Ending {
          if CCore.threadToken != own { swept.value.add(1, ordering: .relaxed) }
          _ = table.value(of: $0)
          table.removeIfDead(ObjectIdentifier($0))
        }
        _ = table.value(of: ending) { lifetimes.track(number) }
        latest.value.store(ObjectIdentifier(ending), ordering: .relaxed)
        DedicatedThread.yield()
      }
      isFinished.value.store(true, ordering: .relaxed)
    }
    #expect(isDone)
    #expect(lifetimes.alive == 0)
  }

  @Test func `making a value may use the table`() {
    let isDone = Threads.start { [table, lifetimes] in
      // More objects than shards, so that some share one.
      let things = (0..<200).map { _ in Thing() }
      func attach(from index: Int) -> LifetimeTracked {
        table.value(of: things[index]) {
          if index + 1 < things.count { _ = attach(from: index + 1) }
          return lifetimes.track(index)
        }
      }
      #expect(attach(from: 0).value == 0)
      for (index, thing) in things.enumerated() { #expect(table.value(of: thing)?.value == index) }
    }
    #expect(isDone.wait())
  }

  @Test func `making a value may attach one to the same object`() {
    let thing = Thing()
    let outer = table.value(of: thing) {
      _ = table.value(of: thing) { lifetimes.track(1) }
      return lifetimes.track(2)
    }
    #expect(outer.value == 1)
    #expect(lifetimes.alive == 1)
  }
}
