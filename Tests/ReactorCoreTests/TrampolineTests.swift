import PureSwiftCore
import TestSupport
import Testing

@testable import ReactorCore

/// The transitions of the ownership word.
@Suite struct TrampolineTests {
  final class Guarded: @unchecked Sendable {
    // Unchecked: the test checks that the trampoline guards it.
    var count = 0
  }

  @Test
  func `a payload that is negative or too large is refused by both cores`() {
    for payload in [-1, SlotLimits.payload + 1] {
      #expect(throws: CoreError.elementIsTooLarge) { _ = try CurrentCore.Trampoline(payload: payload) }
      #expect(throws: CoreError.elementIsTooLarge) { _ = try SwiftTrampoline(payload: payload) }
    }
  }

  @Test
  func `there is one owner at a time`() throws {
    let trampoline = Shared(try Trampoline())
    #expect(trampoline.value.raw.ownerToken == 0)
    #expect(trampoline.value.isOwner == false)
    #expect(trampoline.value.tryAcquire() == true)
    #expect(trampoline.value.isOwner == true)
    #expect(trampoline.value.raw.ownerToken != 0)
    // The owner itself cannot acquire a second time either.
    #expect(trampoline.value.tryAcquire() == false)
    #expect(trampoline.value.trySchedule() == false)
    let refusals = Record<Bool>()
    #expect(
      Threads.run(1) { _ in
        refusals.append(!trampoline.value.tryAcquire())
        refusals.append(!trampoline.value.trySchedule())
        refusals.append(!trampoline.value.isOwner)
        refusals.append(trampoline.value.raw.ownerToken != 0)
      })
    #expect(refusals.elements == [true, true, true, true])
    trampoline.value.release()
    #expect(trampoline.value.raw.ownerToken == 0)
    #expect(trampoline.value.isOwner == false)
    #expect(trampoline.value.tryAcquire() == true)
    trampoline.value.release()
  }

  @Test
  func `another thread acquires what was scheduled`() throws {
    let trampoline = Shared(try Trampoline())
    #expect(trampoline.value.trySchedule() == true)
    #expect(trampoline.value.trySchedule() == false)
    #expect(trampoline.value.tryAcquire() == false)
    #expect(trampoline.value.isOwner == false)
    #expect(trampoline.value.raw.ownerToken == scheduledToken)
    let seen = Record<Bool>()
    #expect(
      Threads.run(1) { _ in
        trampoline.value.acquireScheduled()
        seen.append(trampoline.value.isOwner)
        trampoline.value.release()
      })
    #expect(seen.elements == [true])
    #expect(trampoline.value.trySchedule() == true)
    trampoline.value.acquireScheduled()
    #expect(trampoline.value.isOwner == true)
    trampoline.value.release()
  }

  @Test
  func `the raw word names the owner and the published slot`() throws {
    let raw = try CurrentCore.Trampoline(payload: 0)
    defer { raw.destroy() }
    let me = CurrentCore.threadToken
    #expect(raw.publishedSlot == -1)
    #expect(raw.ownerToken == 0)
    // No thread can acquire or schedule before the start.
    #expect(!raw.tryAcquire(me))
    #expect(!raw.trySchedule())
    #expect(raw.tryInitialize(me))
    #expect(!raw.tryInitialize(me))
    #expect(raw.isOwner(me))
    #expect(raw.ownerToken == me)
    #expect(raw.publishedSlot == -1)
    for slot in 0..<snapshotSlotCount {
      raw.publish(me, slot: slot)
      #expect(raw.publishedSlot == slot)
      #expect(raw.isOwner(me))
    }
    raw.release(slot: 2)
    #expect(raw.publishedSlot == 2)
    #expect(raw.ownerToken == 0)
    #expect(raw.trySchedule())
    #expect(raw.ownerToken == 16)
    #expect(raw.publishedSlot == 2)
    #expect(!raw.isOwner(me))
    raw.acquireScheduled(me)
    #expect(raw.publishedSlot == 2)
    #expect(raw.ownerToken == me)
    #expect(!raw.tryInitialize(me))
    raw.release(slot: 3)
    #expect(raw.tryAcquire(me))
    #expect(raw.publishedSlot == 3)
  }

  @Test
  func `pins are counted for each slot`() throws {
    let raw = try CurrentCore.Trampoline(payload: 0)
    defer { raw.destroy() }
    for slot in 0..<snapshotSlotCount {
      #expect(raw.isFree(slot: slot))
      raw.pin(slot: slot)
      raw.pin(slot: slot)
      for other in 0..<snapshotSlotCount { #expect(raw.isFree(slot: other) == (other != slot)) }
      raw.unpin(slot: slot)
      #expect(!raw.isFree(slot: slot))
      raw.unpin(slot: slot)
      #expect(raw.isFree(slot: slot))
    }
  }

  @Test
  func `living threads have different tokens`() throws {
    let tokens = Record<UInt64>()
    let mayEnd = Gate(count: 8)
    #expect(
      Threads.run(8) { _ in
        tokens.append(CurrentCore.threadToken)
        // Only living threads have unique tokens, so all must live until all have appended theirs.
        mayEnd.open()
        _ = mayEnd.wait()
      })
    let all = tokens.elements + [CurrentCore.threadToken]
    #expect(Set(all).count == 9)
    #expect(all.allSatisfy { $0 > 16 && $0 & 15 == 0 })
    #expect(CurrentCore.threadToken == CurrentCore.threadToken)
  }

  @Test
  func `owners exclude each other`() throws {
    let trampoline = Shared(try Trampoline())
    let guarded = Guarded()
    #expect(
      Threads.run(4) { _ in
        for _ in 0..<2000 {
          while !trampoline.value.tryAcquire() { DedicatedThread.yield() }
          guarded.count += 1
          trampoline.value.release()
        }
      })
    #expect(guarded.count == 8000)
  }
}
