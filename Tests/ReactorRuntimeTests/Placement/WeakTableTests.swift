import ReactorCore
import TestSupport
import Testing

@testable import ReactorRuntime

/// Objects by their keys, which are not retained.
@Suite struct WeakTableTests {
  private final class Member: Sendable {
    let onEnd: @Sendable () -> Void

    init(onEnd: @escaping @Sendable () -> Void = {}) { self.onEnd = onEnd }

    deinit { onEnd() }
  }

  @Test func `all callers get the same object as long as it is usable`() {
    let table = WeakTable<Int, Member>()
    let first = table.object(of: 1, where: { _ in true }, orMake: { Member() })
    #expect(first.isNew)
    let second = table.object(of: 1, where: { _ in true }, orMake: { Member() })
    #expect(second.object === first.object && !second.isNew)
    let third = table.object(of: 1, where: { _ in false }, orMake: { Member() })
    #expect(third.object !== first.object && third.isNew)
    withExtendedLifetime(first) {}
  }

  @Test func `objects are not retained, and those that have gone are removed`() {
    let table = WeakTable<Int, Member>()
    for key in 0..<100 {
      #expect(table.object(of: key, where: { _ in true }, orMake: { Member() }).isNew)
      #expect(table.count == 1)
    }
  }

  /// The check holds the last reference, and the end of the object uses the table.
  @Test func `an object may end while it is checked`() {
    let table = WeakTable<Int, Member>()
    let holder = Shared(SystemMutex<Member?>(nil))
    let hasEnded = Gate()
    let isDone = Threads.start {
      let made = table.object(of: 1, where: { _ in true }) {
        Member {
          #expect(table.count == 1)
          hasEnded.open()
        }
      }
      holder.value.withLock { $0 = made.object }
    }
    #expect(isDone.wait())
    let isReplaced = Threads.start {
      let isUsable = { (_: Member) in
        let last = holder.value.withLock { $0.take() }
        return last == nil
      }
      #expect(table.object(of: 1, where: isUsable, orMake: { Member() }).isNew)
    }
    #expect(isReplaced.wait(seconds: 60))
    #expect(hasEnded.isOpen)
  }
}
