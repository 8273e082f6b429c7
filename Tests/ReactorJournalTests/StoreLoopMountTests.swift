import Foundation
import Testing

@testable import ReactorJournal

/// Power cuts with a real file system: the image below a mounted one is copied, so that the copy lacks what the system has not
/// written yet. Needs root and loop devices.
@Suite(.serialized, .enabled(if: LoopMount.isPossible, "there are no rights to mount an image"))
struct StoreLoopMountTests {
  @Test func `A copy of the disk has everything confirmed after each step`() throws {
    let folder = TemporaryFolder()
    let disk = try LoopMount(image: folder.file("image"), isNew: true)
    let run = StoreRun(path: disk.folder + "/journal")
    for (index, step) in StoreStep.script.enumerated() {
      try run.perform(step)
      try LoopMount.run("/bin/cp", "--sparse=always", folder.file("image"), folder.file("copy"))
      let copy = try LoopMount(image: folder.file("copy"), isNew: false)
      run.check(on: nil, at: copy.folder + "/journal", "after step \(index)")
      copy.unmount()
    }
    disk.unmount()
  }
}

/// A file with an ext4 file system, which is mounted.
final class LoopMount {
  let folder: String
  private var isMounted = true

  init(image: String, isNew: Bool) throws {
    folder = image + ".mounted"
    if isNew {
      try Self.run("/usr/bin/truncate", "-s", "32M", image)
      try Self.run("/sbin/mkfs.ext4", "-q", image)
    }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    do {
      try Self.run("/bin/mount", "-o", "loop", image, folder)
    } catch {
      rmdir(folder)
      throw error
    }
  }

  deinit { unmount() }

  /// Tries it again for a while if the file system is in use, such as by a process that another test is starting, which has copies of
  /// the descriptors until it runs its own program.
  func unmount() {
    guard isMounted else { return }
    isMounted = false
    for attempt in 1...500 {
      do {
        try Self.run("/bin/umount", folder)
        break
      } catch {
        if attempt == 500 { Issue.record("\(folder) is still mounted: \(error)") }
        usleep(10_000)
      }
    }
    rmdir(folder)
  }

  /// Whether this process may mount an image.
  static let isPossible: Bool = {
    guard geteuid() == 0 else { return false }
    let folder = TemporaryFolder()
    return (try? LoopMount(image: folder.file("image"), isNew: true)) != nil
  }()

  /// Runs a program, which must succeed. It prints nothing.
  static func run(_ program: String, _ arguments: String...) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw JournalError.failed(code: process.terminationStatus, message: program)
    }
  }
}
