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
