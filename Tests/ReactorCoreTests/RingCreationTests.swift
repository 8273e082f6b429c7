import ReactorCore
import TestSupport
import Testing

/// What a ring refuses to be made of.
@Suite struct RingCreationTests {
  @Test(
    arguments: CoreUnderTest.allCases,
    [
      (0, CoreError.capacityIsZero), (-1, .capacityIsZero), (Int.min, .capacityIsZero),
      (3, .capacityIsNotAPowerOfTwo), (1023, .capacityIsNotAPowerOfTwo),
      (Int.max, .capacityIsNotAPowerOfTwo), (1 << 32, .capacityIsTooLarge), (1 << 62, .capacityIsTooLarge),
    ])
  func invalidCapacity(_ core: CoreUnderTest, _ expected: (capacity: Int, error: CoreError)) {
    func body<C: Core>(_: C.Type) {
      #expect(throws: expected.error) { _ = try RingOn<C, Int>(capacity: expected.capacity) }
    }
    body(core.type)
    #expect(!expected.error.description.isEmpty)
  }

  @Test(arguments: CoreUnderTest.allCases)
  func elementOfMoreThanOneMebibyte(_ core: CoreUnderTest) {
    func body<C: Core>(_: C.Type) {
      #expect(throws: CoreError.elementIsTooLarge) {
        _ = try RingOn<C, InlineArray<1_048_577, UInt8>>(capacity: 2)
      }
    }
    body(core.type)
  }

  @Test func everyErrorHasATextOfItsOwn() {
    let errors: [CoreError] = [
      .capacityIsZero, .capacityIsNotAPowerOfTwo, .capacityIsTooLarge, .elementSizeIsZero,
      .elementIsTooLarge, .alignmentIsInvalid, .countIsInvalid, .outOfMemory, .lanesExhausted,
      .laneCountIsInvalid,
      .noDescriptor, .processorIsInvalid,
    ]
    let texts = Set(errors.map(\.description))
    #expect(texts.count == errors.count)
    #expect(texts.allSatisfy { $0.count > 10 })
  }

  @Test(arguments: CoreUnderTest.allCases, [Int.max, 127, 256, 0, -1])
  func rawRingRefusesLayouts(_ core: CoreUnderTest, _ alignment: Int) {
    func body<C: Core>(_: C.Type) {
      #expect(throws: CoreError.alignmentIsInvalid) {
        _ = try C.Ring(capacity: 2, size: 8, alignment: alignment, startingAt: 0)
      }
      #expect(throws: CoreError.elementSizeIsZero) {
        _ = try C.Ring(capacity: 2, size: 0, alignment: 8, startingAt: 0)
      }
    }
    body(core.type)
  }

  @Test(arguments: CoreUnderTest.allCases, [1, 2, 4, 1024])
  func capacityIsWhatWasAsked(_ core: CoreUnderTest, _ capacity: Int) throws {
    func body<C: Core>(_: C.Type) throws {
      let ring = try RingOn<C, Int>(capacity: capacity)
      #expect(ring.capacity == capacity)
      #expect(ring.wasCount == 0)
      #expect(ring.isIdle == true)
      #expect(ring.isEmpty == true)
      #expect(ring.isReady == false)
      #expect(ring.isClosed == false)
    }
    try body(core.type)
  }
}
