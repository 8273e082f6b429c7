import ReactorCore
import TestSupport
import Testing

/// The arguments with which a ring is not created.
@Suite struct RingCreationTests {
  @Test(
    arguments: [
      (0, CoreError.capacityIsZero), (-1, .capacityIsZero), (Int.min, .capacityIsZero),
      (3, .capacityIsNotAPowerOfTwo), (1023, .capacityIsNotAPowerOfTwo),
      (Int.max, .capacityIsNotAPowerOfTwo), (1 << 32, .capacityIsTooLarge), (1 << 62, .capacityIsTooLarge),
    ])
  func `an invalid capacity throws the error that names it`(_ expected: (capacity: Int, error: CoreError)) {
    #expect(throws: expected.error) { _ = try Ring<Int>(capacity: expected.capacity) }
    #expect(!expected.error.description.isEmpty)
  }

  @Test
  func `an element of more than one mebibyte is refused`() {
    #expect(throws: CoreError.elementIsTooLarge) {
      _ = try Ring<InlineArray<1_048_577, UInt8>>(capacity: 2)
    }
  }

  @Test func `every error has a text of its own`() {
    let errors: [CoreError] = [
      .capacityIsZero, .capacityIsNotAPowerOfTwo, .capacityIsTooLarge, .elementSizeIsZero,
      .elementIsTooLarge, .alignmentIsInvalid, .outOfMemory, .lanesExhausted, .laneCountIsInvalid,
      .noDescriptor, .processorIsInvalid, .signalIsInvalid,
    ]
    let texts = Set(errors.map(\.description))
    #expect(texts.count == errors.count)
    #expect(texts.allSatisfy { $0.count > 10 })
  }

  @Test(arguments: [Int.max, 127, 256, 0, -1])
  func `a raw ring refuses an invalid size or alignment`(_ alignment: Int) {
    #expect(throws: CoreError.alignmentIsInvalid) {
      _ = try CurrentCore.Ring(capacity: 2, size: 8, alignment: alignment, startingAt: 0)
    }
    #expect(throws: CoreError.elementSizeIsZero) {
      _ = try CurrentCore.Ring(capacity: 2, size: 0, alignment: 8, startingAt: 0)
    }
    for size in [-1, Int.min, SlotLimits.payload + 1] {
      #expect(throws: CoreError.elementIsTooLarge) {
        _ = try CurrentCore.Ring(capacity: 2, size: size, alignment: 8, startingAt: 0)
      }
      // What throws before a core is called.
      #expect(throws: CoreError.elementIsTooLarge) {
        try SlotLimits.check(capacity: 2, size: size, alignment: 8)
      }
    }
  }

  @Test(arguments: [1, 2, 4, 1024])
  func `a ring has the capacity that was requested`(_ capacity: Int) throws {
    let ring = try Ring<Int>(capacity: capacity)
    #expect(ring.capacity == capacity)
    #expect(ring.wasCount == 0)
    #expect(ring.isIdle == true)
    #expect(ring.isEmpty == true)
    #expect(ring.isReady == false)
    #expect(ring.isClosed == false)
  }
}
