import Glibc
import TestSupport
import Testing

@testable import ReactorCore

/// The states that frequent readers keep pinned, and for how long.
@Suite struct OwnedStateReadersTests {
  /// Whether a thread keeps the pin of a state that it reads often.
  static func keepsPins() -> Bool { CurrentCore.hasFences && getenv("RR_NO_MEMBARRIER") == nil }

  private final class Subject: Sendable {
    let state: OwnedState<LifetimeTracked>
    let lifetimes = Lifetimes()

    init() throws {
      state = try OwnedState()
      _ = state.tryInitialize { lifetimes.track(0) }
      state.release()
    }

    func change(to value: Int) {
      #expect(state.tryAcquire() == true)
      state.change { $0 = lifetimes.track(value) }
      state.release()
      #expect(state.withValue { $0.value } == value)
    }

    func readOften() { for _ in 0..<100 { _ = state.withValue { $0.value } } }
  }

  @Test
  func `a thread keeps one state until it reads again or ends`() throws {
    let subject = try Subject()
    let other = try Subject()
    let (hasRead, mayReadAgain, hasReadAgain, mayEnd) = (Gate(), Gate(), Gate(), Gate())
    let thread = DedicatedThread(named: "reader") {
      subject.readOften()
      hasRead.open()
      _ = mayReadAgain.wait()
      subject.readOften()
      other.readOften()
      hasReadAgain.open()
      _ = mayEnd.wait()
    }
    let held = Self.keepsPins() ? 1 : 0
    #expect(hasRead.wait())
    #expect(subject.state.wasHeldCount == 0)
    for value in 1...5 {
      subject.change(to: value)
      #expect(subject.state.wasHeldCount == held)
    }
    // The published state, the one before it, and the one that is kept.
    #expect(subject.lifetimes.alive == 2 + held)
    mayReadAgain.open()
    #expect(hasReadAgain.wait())
    // Now it keeps a state of the other subject.
    #expect(subject.state.wasHeldCount == 0)
    other.change(to: 1)
    #expect(other.state.wasHeldCount == held)
    mayEnd.open()
    thread.join()
    #expect(other.state.wasHeldCount == 0)
  }

  @Test
  func `idle readers do not prevent the owner from publishing`() throws {
    let lifetimes: Lifetimes
    let mayEnd = Gate()
    var threads: [Gate] = []
    do {
      let subject = try Subject()
      lifetimes = subject.lifetimes
      // Each thread keeps a different state, and there are more threads than slots.
      for value in 1...3 * snapshotSlotCount {
        let hasRead = Gate()
        threads.append(
          Threads.start { [weak subject] in
            subject?.readOften()
            hasRead.open()
            _ = mayEnd.wait()
          })
        #expect(hasRead.wait())
        subject.change(to: value)
        #expect(subject.state.wasHeldCount < snapshotSlotCount)
      }
      #expect(subject.state.wasDeferredCount == 0)
    }
    // It is destroyed, although some threads kept its states until then.
    #expect(Threads.yield { lifetimes.alive == 0 })
    mayEnd.open()
    for thread in threads { #expect(thread.wait()) }
  }
}
