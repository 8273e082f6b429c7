import Glibc
import SimulatedDisk
import TestSupport
import Testing

@testable import ReactorJournal

/// Power cuts at each call of the disk, which lose, tear and reorder what is not synchronised. All subsets of it, if it is little.
@Suite struct StorePowerCutTests {
  private static let isLong = getenv("STRESS_MODE").map { String(cString: $0) } == "long"

  /// What may be left of `count` unsynchronised changes.
  static func remains(of count: Int, _ random: inout SplitMix64) -> [[UInt32]] {
    guard count > 4 else {
      return (0..<1 << count).map { subset in (0..<count).map { UInt32(subset >> $0 & 1) } }
    }
    var all = [[UInt32](repeating: 0, count: count), [UInt32](repeating: 1, count: count)]
    for _ in 0..<(isLong ? 400 : 12) {
      // Nearly nothing, a half, nearly everything, and torn writes.
      let chance = [1, 4, 7].randomElement(using: &random)!
      all.append(
        (0..<count).map { _ in
          if Int.random(in: 0..<8, using: &random) == 0 {
            return UInt32(truncatingIfNeeded: random.next()) | 2
          }
          return Int.random(in: 0..<8, using: &random) < chance ? 1 : 0
        })
    }
    return all
  }

  @Test func `After a power cut at any call everything confirmed is there and the rest is a prefix`() throws {
    var random = SplitMix64(seed: 2026)
    var cuts = 0
    var seen = (unsynced: -1, position: 0 as UInt64)
    for call in 0..<(try StoreFaultTests.calls()) {
      let folder = TemporaryFolder()
      let disk = Disk()
      disk.fail(at: call, SD_POWER_CUT)
      let run = StoreRun(path: folder.file("journal"))
      do throws(JournalError) {
        for step in StoreStep.script { try run.perform(step, on: disk) }
      } catch {
        run.abandon()
      }
      // A call that only reads changes nothing.
      guard seen != (disk.unsyncedCount, run.confirmed.position) else { continue }
      seen = (disk.unsyncedCount, run.confirmed.position)
      for parts in Self.remains(of: disk.unsyncedCount, &random) {
        run.check(on: disk.afterPowerCut(parts), "power cut at call \(call), left \(parts)")
        cuts += 1
      }
    }
    #expect(cuts > 1000)
  }
}
