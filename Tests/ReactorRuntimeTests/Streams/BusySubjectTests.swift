import Glibc
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

/// Tests of subscriptions to a subject to which other threads send events without a pause.
@Suite struct BusySubjectTests {
  /// A thread that sends 1, 2, 3 and so on until it is told to end.
  private struct Emitter {
    let mayBegin = Gate()
    let mustEnd = Shared(Atomic(false))
    let hasEnded: Gate

    init(to emit: @escaping @Sendable (Int) -> Void) {
      hasEnded = Threads.start { [mayBegin, mustEnd] in
        #expect(mayBegin.wait())
        var number = 0
        while !mustEnd.value.load(ordering: .relaxed) {
          number += 1
          emit(number)
        }
      }
    }

    func end() {
      mustEnd.value.store(true, ordering: .relaxed)
      #expect(hasEnded.wait())
    }
  }

  @Test func `subscribing to a busy relay returns, and every element comes in order`() {
    let relay = StateRelay(value: 0)
    let sent = Shared(Atomic(0))
    let emitter = Emitter { number in
      relay.accept(number)
      sent.value.store(number, ordering: .relaxed)
    }
    let record = Record<Int>()
    let hasSubscribed = Threads.start {
      relay.subscribe(onNext: { element in
        record.append(element)
        if element > 0 {
          _ = usleep(50)
          return
        }
        // Until as many elements wait that the other thread waits as well, or nearly so.
        emitter.mayBegin.open()
        #expect(Threads.yield { sent.value.load(ordering: .relaxed) >= 1024 })
      })
    }
    #expect(hasSubscribed.wait(seconds: 20))
    emitter.end()
    #expect(hasSubscribed.wait())
    #expect(Threads.yield { record.elements.last == sent.value.load(ordering: .relaxed) })
    #expect(record.elements == Array(0..<record.elements.count))
  }
}
