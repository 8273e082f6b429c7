import Synchronization

/// Counts who is in the middle of a look-up, in lines of their own, so that threads rarely meet in one.
///
/// Each line has two counters, an even one and an odd one. Readers count in those that `phase` names. After
/// it named the others, only who had read it before still comes to the first, so these reach zero, however
/// many go on looking up. A reader that read the phase long ago and counts now is one of the later ones: what
/// makes it safe is that each counter is seen at zero once, not which one a reader took.
///
/// Not an object, so that a look-up counts no references to it: all threads would do that in the same place.
struct ReaderPins: @unchecked Sendable {
  // Unchecked: behind the pointer are atomics.
  private let memory: UnsafeMutableRawPointer

  static var lines: Int { 16 }
  /// One bit for each counter: those of phase 0, then those of phase 1.
  static var allCounters: UInt32 { .max }

  /// Who makes it destroys it.
  init() {
    memory = .allocate(byteCount: (Self.lines + 1) * cacheLineSize, alignment: cacheLineSize)
    phase.initialize(to: Atomic(0))
    for line in 0..<Self.lines {
      for phase in 0..<2 { counter(line, phase).initialize(to: Atomic(0)) }
    }
  }

  func destroy() { memory.deallocate() }

  /// Behind the counters, in a line that is rarely written.
  @inline(__always)
  private var phase: UnsafeMutablePointer<Atomic<Int>> {
    (memory + Self.lines &* cacheLineSize).assumingMemoryBound(to: Atomic<Int>.self)
  }

  @inline(__always)
  private func counter(_ line: Int, _ phase: Int) -> UnsafeMutablePointer<Atomic<UInt32>> {
    (memory + (line &* cacheLineSize &+ phase &* MemoryLayout<Atomic<UInt32>>.size))
      .assumingMemoryBound(to: Atomic<UInt32>.self)
  }

  /// What was pinned, for the unpinning.
  struct Pin {
    fileprivate let counter: UnsafeMutablePointer<Atomic<UInt32>>
  }

  /// Any thread. Wait-free.
  @inline(__always)
  func pin() -> Pin {
    // Relaxed: any answer will do; see above.
    let counter = counter(Self.line, phase.pointee.load(ordering: .relaxed))
    // PIN: before the loads of the look-up.
    counter.pointee.wrappingAdd(1, ordering: .sequentiallyConsistent)
    return Pin(counter: counter)
  }

  @inline(__always)
  func unpin(_ pin: Pin) {
    // PIN: "I have read it", to who frees it. What others add or subtract carries it on.
    pin.counter.pointee.wrappingSubtract(1, ordering: .releasing)
  }

  /// Takes away from `pending` the counters that are zero. If readers may still come to all that are left,
  /// sends them to the others. One thread at a time.
  func removeUnpinned(from pending: inout UInt32) {
    let current = phase.pointee.load(ordering: .relaxed)
    for phase in 0..<2 {
      for line in 0..<Self.lines {
        let bit: UInt32 = 1 << UInt32(phase * Self.lines + line)
        // PIN: after the unlinking; from who has read.
        if pending & bit != 0, counter(line, phase).pointee.load(ordering: .sequentiallyConsistent) == 0 {
          pending &= ~bit
        }
      }
    }
    let ofCurrent: UInt32 = 0xffff << UInt32(current * Self.lines)
    // Relaxed: see pin().
    if pending != 0, pending & ~ofCurrent == 0 { phase.pointee.store(1 - current, ordering: .relaxed) }
  }

  /// From the address of what is the thread's own; the bits below are the same in all threads.
  @inline(__always)
  private static var line: Int {
    let mixed = CurrentCore.threadToken &* 0x9e37_79b9_7f4a_7c15
    return Int(truncatingIfNeeded: mixed &>> 60)
  }
}
