import ReactorCore
import TestSupport
import Testing

/// The reference that is set once, and the one that does not retain its object.
@Suite struct ReferenceTests {
  private final class Holder: Sendable {
    let reference = AtomicReference<LifetimeTracked>()
    deinit { reference.releaseObject() }
  }

  @Test func `only the first thread sets the object`() {
    let lifetimes = Lifetimes()
    do {
      let holder = Holder()
      let isSet = holder.reference.isSet
      #expect(!isSet)
      let first = holder.reference.use { $0.value }
      #expect(first == nil)
      let winners = Record<Int>()
      #expect(
        Threads.run(16) { index in
          winners.append(holder.reference.setIfNil(lifetimes.track(index)).value)
        })
      #expect(Set(winners.elements).count == 1)
      let last = holder.reference.use { $0.value }
      #expect(last == winners.elements.first)
      // The threads may not have ended yet, and may still hold their objects.
      #expect(Threads.yield { lifetimes.alive == 1 })
    }
    #expect(Threads.yield { lifetimes.alive == 0 })
  }

  @Test func `an object that was set for good is not retained, and stays`() {
    let lifetimes = Lifetimes()
    let reference = AtomicReference<LifetimeTracked>()
    do {
      let (permanent, late) = (lifetimes.track(1), lifetimes.track(2))
      reference.setPermanent(UncountedReference(permanent))
      reference.setPermanent(UncountedReference(late))
      let value = reference.use { $0.value }
      #expect(value == 1)
      let first = reference.setIfNil(late)
      #expect(first === permanent)
    }
    #expect(lifetimes.alive == 0)
  }

  @Test func `the holder's end releases the object, once`() {
    let lifetimes = Lifetimes()
    do {
      let reference = AtomicReference<LifetimeTracked>()
      _ = reference.setIfNil(lifetimes.track(1))
      #expect(lifetimes.alive == 1)
      reference.releaseObject()
      #expect(lifetimes.alive == 0)
      let isSet = reference.isSet
      #expect(!isSet)
      reference.releaseObject()
    }
    #expect(lifetimes.alive == 0)
  }

  @Test func `a weak owner retains neither the owner nor the part`() {
    let lifetimes = Lifetimes()
    var owner: LifetimeTracked? = lifetimes.track(1)
    let part = lifetimes.track(2)
    let weakly = WeakReference(owner!, part: part)
    var seen: [Int] = []
    #expect(weakly.use { seen = [$0.value, $1.value] })
    #expect(seen == [2, 1])
    owner = nil
    #expect(lifetimes.alive == 1)
    #expect(!weakly.use { _, _ in Issue.record("the owner is destroyed") })
    withExtendedLifetime(part) {}
  }
}
