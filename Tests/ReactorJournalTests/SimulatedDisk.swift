import Foundation
import SimulatedDisk
import Synchronization

@testable import ReactorJournal

/// A disk in memory: see `simulated_disk.h`.
final class Disk {
  private static let count = Atomic<Int>(0)
  let name: String
  private let disk: OpaquePointer

  private static func newName() -> String {
    "simulated-\(count.wrappingAdd(1, ordering: .relaxed).newValue)"
  }

  convenience init() {
    let name = Self.newName()
    self.init(sd_create(name), name)
  }

  private init(_ disk: OpaquePointer, _ name: String) {
    self.disk = disk
    self.name = name
  }

  deinit { sd_free(disk) }

  /// How many calls there were.
  var calls: UInt64 { sd_calls(disk) }
  /// How many changes a power cut may lose.
  var unsyncedCount: Int { Int(sd_unsynced(disk)) }

  func fail(at call: UInt64, _ fault: sd_fault) { sd_fail_at(disk, call, fault) }
  func repair() { sd_fail_at(disk, .max, SD_ERROR) }
  /// Lets the reads of these bytes of a file fail, and no others any more.
  func damage(_ name: String, at offset: Int, _ size: Int) {
    sd_damage(disk, name, UInt64(offset), UInt64(size))
  }
  func size(of name: String) -> Int { Int(sd_size(disk, name)) }
  /// Whether the write-ahead log of a file has commits that SQLite would overlook.
  func hasLostCommits(_ name: String = "journal") -> Bool {
    let log = name + "-wal"
    let size = size(of: log)
    return WriteAheadLog.hasLostCommits { bytes, offset in
      guard offset + bytes.count <= size else { return false }
      bytes.withUnsafeMutableBytes { sd_copy(disk, log, UInt64(offset), $0.baseAddress, UInt64($0.count)) }
      return true
    }
  }
  /// Lets each synchronisation wait while the gate is closed. The gate must outlive the disk.
  func setGate(_ gate: SyncGate) {
    sd_before_sync(
      disk, { Unmanaged<SyncGate>.fromOpaque($0!).takeUnretainedValue().pass() },
      Unmanaged.passUnretained(gate).toOpaque())
  }
  func setCapacity(_ bytes: UInt64) { sd_set_capacity(disk, bytes) }
  func afterPowerCut(_ parts: [UInt32]) -> Disk {
    let name = Self.newName()
    return Disk(sd_after_power_cut(disk, name, parts), name)
  }
}

/// Holds the synchronisations of a ``Disk`` back. Any thread.
final class SyncGate: @unchecked Sendable {
  // Unchecked: the variables are used under the condition's lock.
  private let condition = NSCondition()
  private var isOpen = true
  private var waiting = 0

  /// How many threads wait.
  var waitingCount: Int { condition.withLock { waiting } }

  func close() { condition.withLock { isOpen = false } }

  func open() {
    condition.withLock {
      isOpen = true
      condition.broadcast()
    }
  }

  fileprivate func pass() {
    condition.withLock {
      waiting += 1
      while !isOpen { condition.wait() }
      waiting -= 1
    }
  }
}
