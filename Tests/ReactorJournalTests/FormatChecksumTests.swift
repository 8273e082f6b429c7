import TestSupport
import Testing

@testable import ReactorJournal

@Suite struct FormatChecksumTests {
  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    var checksum = CRC32C()
    checksum.update(bytes.span.bytes)
    return checksum.value
  }

  @Test func `The checksum is CRC 32C`() {
    // From RFC 3720, appendix B.4.
    #expect(Self.checksum(Array("123456789".utf8)) == 0xE306_9283)
    #expect(Self.checksum([UInt8](repeating: 0, count: 32)) == 0x8A91_36AA)
    #expect(Self.checksum([UInt8](repeating: 0xFF, count: 32)) == 0x62A8_AB43)
    #expect(Self.checksum(Array(0..<32)) == 0x46DD_794E)
  }

  @Test func `Integers and parts of bytes of any length give the checksum of the whole`() {
    var random = SplitMix64(seed: 7)
    let bytes = (0..<40).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    for end in 0...bytes.count {
      var parts = CRC32C()
      parts.update(bytes.span.bytes.extracting(0..<end))
      parts.update(bytes.span.bytes.extracting(end..<bytes.count))
      #expect(parts.value == Self.checksum(bytes))
    }
    var integer = CRC32C()
    integer.update(0x0807_0605_0403_0201 as UInt64)
    #expect(integer.value == Self.checksum(Array(1...8)))
  }
}
