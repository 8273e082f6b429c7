import CReactorCore
import ReactorCore
import Testing

/// The numbers by which Swift code finds its way in the memory of both cores, against those of the C core's headers, which the
/// compiler checks against the structures.
@Suite struct LayoutTests {
  @Test func `the layout of a trampoline is that of the C core`() {
    #expect(TrampolineLayout.places == Int(RR_TRAMPOLINE_PLACES))
    #expect(TrampolineLayout.pins == Int(RR_TRAMPOLINE_PINS))
    #expect(TrampolineLayout.slotFields == Int(RR_TRAMPOLINE_SLOT_FIELDS))
    #expect(TrampolineLayout.slotFieldsEnd == Int(RR_TRAMPOLINE_SLOT_FIELDS_END))
    #expect(TrampolineLayout.deferrals == Int(RR_TRAMPOLINE_DEFERRALS))
    #expect(TrampolineLayout.payload == Int(RR_TRAMPOLINE_PAYLOAD))
    #expect(snapshotSlotCount == Int(RR_TRAMPOLINE_SLOTS))
  }

  @Test func `the size of a cache line is that of the C core`() {
    #expect(cacheLineSize == Int(RR_CACHE_LINE))
  }
}
