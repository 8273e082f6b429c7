import CReactorSQLite
import SimulatedDisk
import TestSupport
import Testing

@testable import ReactorJournal

/// Calls of the disk that fail, each one once, and power cuts at each call. The script has every kind of commit, checkpoints and
/// removal; what is left must be what was confirmed, and at most the step that failed besides.
@Suite struct StoreFaultTests {
  /// How many calls the script makes.
  static func calls() throws -> UInt64 {
    let folder = TemporaryFolder()
    let disk = Disk()
    let run = StoreRun(path: folder.file("journal"))
    for step in StoreStep.script { try run.perform(step, on: disk) }
    let calls = disk.calls
    run.check(on: disk, "without a fault")
    return calls
  }

  /// SQLITE_IOERR_FSYNC, a macro that Swift does not import.
  private static let syncFailed = SQLITE_IOERR | 4 << 8

  /// Why the store must refuse what follows an error.
  @Test func `SQLite itself accepts a commit after one whose synchronisation failed`() throws {
    for offset in 0..<20 as Range<UInt64> {
      let disk = Disk()
      let database = try SQLiteDatabase(name: "journal", isWritable: true, vfs: disk.name)
      defer {
        database.close(checkpoints: false)
        withExtendedLifetime(disk) {}
      }
      try SQLiteSchema.configureWriter(database)
      try database.execute("CREATE TABLE t(a)")
      disk.fail(at: disk.calls + offset, SD_ERROR)
      do throws(SQLiteError) {
        try database.execute("INSERT INTO t VALUES(1)")
      } catch {
        guard error.code == Self.syncFailed else { continue }
        try database.execute("INSERT INTO t VALUES(2)")
        #expect(try database.integer("SELECT count(*) FROM t") == 1)
        #expect(try database.integer("SELECT a FROM t") == 2)
        return
      }
    }
    Issue.record("No synchronisation failed.")
  }

  @Test(arguments: [SD_ERROR, SD_ERROR_LATE])
  func `After an error of any call the store refuses everything and nothing confirmed is lost`(
    fault: sd_fault
  ) throws {
    for call in 0..<(try Self.calls()) {
      let folder = TemporaryFolder()
      let disk = Disk()
      disk.fail(at: call, fault)
      let run = StoreRun(path: folder.file("journal"))
      do throws(JournalError) {
        for step in StoreStep.script { try run.perform(step, on: disk) }
      } catch {
        #expect(error != .diskFull)
        run.abandon()
      }
      disk.repair()
      // Once with what the system still has in memory, and once with what is on the disk.
      let cut = disk.afterPowerCut([UInt32](repeating: 0, count: disk.unsyncedCount))
      run.check(on: disk, "\(fault.testDescription) of call \(call)")
      run.check(on: cut, "\(fault.testDescription) of call \(call), then a power cut")
    }
  }

  /// What it finds is in the memory of the system only. Written back before it is durable, it would be a part of the file alone.
  @Test func `After a failed synchronisation the power fails while the next process opens the store`() throws
  {
    var random = SplitMix64(seed: 41)
    var (syncs, cuts) = (0, 0)
    for call in 0..<(try Self.calls()) {
      var (opening, hasOpened) = (0 as UInt64, false)
      while !hasOpened {
        let disk = Disk()
        guard let run = Self.run(on: disk, failingToSyncAt: call) else { break }
        if opening == 0 { syncs += 1 }
        disk.fail(at: disk.calls + opening, SD_POWER_CUT)
        let folder = TemporaryFolder()
        let next = SQLiteStore(
          path: folder.file("journal"), access: .readWrite, vfs: disk.name, checkpointBytes: 1 << 20)
        hasOpened = (try? next.open()) != nil
        next.close()
        for parts in StorePowerCutTests.remains(of: disk.unsyncedCount, &random).shuffled(using: &random)
          .prefix(3)
        {
          run.check(on: disk.afterPowerCut(parts), "synchronisation \(call), call \(opening), left \(parts)")
          cuts += 1
        }
        withExtendedLifetime(disk) {}
        opening += UInt64.random(in: 1...12, using: &random)
      }
    }
    #expect(syncs > 20)
    #expect(cuts > 300)
  }

  /// Runs the script up to a call, and leaves the disk as it is then; returns nil if the call is no synchronisation.
  private static func run(on disk: Disk, failingToSyncAt call: UInt64) -> StoreRun? {
    let folder = TemporaryFolder()
    let run = StoreRun(path: folder.file("journal"))
    disk.fail(at: call, SD_ERROR_LATE)
    defer { disk.repair() }
    do throws(JournalError) {
      for step in StoreStep.script { try run.perform(step, on: disk) }
    } catch {
      run.abandon()
      if case .failed(syncFailed, _) = error { return run }
    }
    return nil
  }

  @Test(arguments: [SD_FULL, SD_SHORT, SD_QUOTA])
  func `A commit that finds no space writes nothing and succeeds when it is tried again`(fault: sd_fault)
    throws
  {
    var fullCount = 0
    for call in 0..<(try Self.calls()) {
      let folder = TemporaryFolder()
      let disk = Disk()
      disk.fail(at: call, fault)
      let run = StoreRun(path: folder.file("journal"))
      do throws(JournalError) {
        for step in StoreStep.script {
          do throws(JournalError) {
            try run.perform(step, on: disk)
          } catch {
            guard error == .diskFull else { throw error }
            fullCount += 1
            // As after `kill -9` at this moment, if the system has written everything, and if it has written nothing.
            for part in 0...1 as ClosedRange<UInt32> {
              let cut = disk.afterPowerCut([UInt32](repeating: part, count: disk.unsyncedCount))
              // Removal has several transactions, of which the first may have had their effect.
              let isRemoval = if case .remove = step { true } else { false }
              run.check(
                on: cut, mayHaveMore: isRemoval,
                "\(fault.testDescription) of call \(call), before it is tried again")
            }
            try run.perform(step, on: disk)
          }
        }
      } catch {
        // A write without space is always recognised.
        if case .failed(let code, _) = error {
          #expect(
            code != SQLITE_FULL && code != SQLiteError.writeFailed, "\(fault.testDescription) of call \(call)"
          )
        }
        run.abandon()
      }
      disk.repair()
      run.check(on: disk, "\(fault.testDescription) of call \(call)")
    }
    #expect(fullCount > 20)
  }

  @Test func `A disk that is full and then has space again loses nothing`() throws {
    for capacity in stride(from: 40_000, through: 120_000, by: 2_000) as StrideThrough<UInt64> {
      let folder = TemporaryFolder()
      let disk = Disk()
      let run = StoreRun(path: folder.file("journal"))
      try run.perform(.open, on: disk)
      try run.perform(.commit(records: 1, size: 9, entry: 0), on: disk)
      disk.setCapacity(capacity)
      var isFull = false
      for size in [9, 3000, 9000, 9, 20_000, 20_000, 20_000, 9] {
        let step = StoreStep.commit(records: 2, size: size)
        do throws(JournalError) {
          try run.perform(step, on: disk)
        } catch {
          #expect(error == .diskFull)
          isFull = true
          // It stays full for some time. A checkpoint may make room.
          for _ in 0..<3 where run.confirmed != run.attempted {
            do throws(JournalError) { try run.perform(step, on: disk) } catch {
              #expect(error == .diskFull)
            }
          }
          disk.setCapacity(.max)
          if run.confirmed != run.attempted { try run.perform(step, on: disk) }
        }
      }
      #expect(isFull)
      try run.perform(.close, on: disk)
      run.check(on: disk, "capacity \(capacity)")
    }
  }
}

extension sd_fault {
  var testDescription: String {
    switch self {
    case SD_ERROR: "error"
    case SD_FULL: "full"
    case SD_SHORT: "short"
    case SD_QUOTA: "quota"
    case SD_ERROR_LATE: "error after the effect"
    default: "power cut"
    }
  }
}
