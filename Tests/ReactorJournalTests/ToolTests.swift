import Foundation
import TestSupport
import Testing

@testable import ReactorJournal

/// The executable `reactor-journal`, as a process of its own.
@Suite struct ToolTests {
  private static func make(_ arguments: [String]) -> Process {
    let process = Process()
    // The executable is built into the same folder as the tests.
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appendingPathComponent("reactor-journal")
    process.arguments = arguments
    return process
  }

  /// Runs it, and returns its exit status and what it printed.
  static func run(_ arguments: String...) throws -> (status: Int32, output: String, errors: String) {
    try run(arguments)
  }

  private static func run(_ arguments: [String]) throws -> (status: Int32, output: String, errors: String) {
    let process = make(arguments)
    let output = Pipe()
    let errors = Pipe()
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let complaints = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text, complaints)
  }

  @Test func `A good journal is shown and verified`() throws {
    let folder = TemporaryFolder()
    let (path, _) = try StoreDamageTests.make(in: folder)
    let info = try Self.run("info", path)
    #expect(info.status == 0)
    #expect(info.output.contains("positions 1 to 9"))
    #expect(info.output.contains("the head and the last batch are good"))
    #expect(
      info.output.contains(
        "entry/0: since 0, snapshots at 6 (version 3, 300 bytes), 3 (version 3, 300 bytes)"))
    let verified = try Self.run("verify", path)
    #expect(verified.status == 0)
    #expect(verified.output.contains("no fault found"))
    #expect(verified.errors == "")
    let replay = try Self.run("replay", "--until", "5", path)
    #expect(replay.output.contains("entry/0: the snapshot at 3 (version 3), then 2 records up to 5"))
    #expect(replay.output.contains("entry/7: the initial state, then 0 records up to 5"))
  }

  @Test func `A damaged journal ends with status 1 and what is good of it is saved`() throws {
    let folder = TemporaryFolder()
    let (path, _) = try StoreDamageTests.make(in: folder)
    try StoreDamageTests.execute("UPDATE batches SET bytes=zeroblob(9) WHERE first=7", on: path)
    let verified = try Self.run("verify", path)
    #expect(verified.status == 1)
    #expect(verified.output.contains("DAMAGED: The batch at position 7 is not what was written."))
    #expect(try Self.run("info", path).status == 1)
    let saved = try Self.run("salvage", path, folder.file("saved"))
    #expect(saved.status == 1)
    #expect(saved.output.contains("everything after position 6"))
    #expect(saved.output.contains("saved in"))
    #expect(saved.output.contains("remove the files of that one with -wal and -replay behind its name"))
    #expect(try Self.run("verify", folder.file("saved")).status == 0)
    let dump = try Self.run("dump", "--json", path)
    #expect(dump.status == 1)
    #expect(dump.output.split(separator: "\n").count == 6)
  }

  @Test func `A damaged snapshot is reported with status 1, and does not keep a journal from being saved`()
    throws
  {
    let folder = TemporaryFolder()
    let (path, _) = try StoreDamageTests.make(in: folder)
    try StoreDamageTests.execute("UPDATE snapshots SET checksum=1 WHERE position=6", on: path)
    let verified = try Self.run("verify", path)
    #expect(verified.status == 1)
    #expect(
      verified.output.contains(
        "entry/0: 9 records, 7620 bytes, last at 9, snapshots at 3, 1 damaged snapshot"))
    #expect(verified.output.contains("DAMAGED: 1 damaged snapshot, and nothing else"))
    #expect(!verified.output.contains("no fault found"))
    #expect(try Self.run("salvage", path, folder.file("saved")).status == 0)
    #expect(try Self.run("verify", folder.file("saved")).status == 0)
  }

  @Test func `A salvage without the head of the log says that all records are copied`() throws {
    let folder = TemporaryFolder()
    let (path, _) = try StoreDamageTests.make(in: folder)
    try StoreDamageTests.execute("DELETE FROM log", on: path)
    let saved = try Self.run("salvage", path, folder.file("saved"))
    #expect(saved.status == 1)
    #expect(saved.output.contains("copied: all records, up to position 9. The head"))
    #expect(!saved.output.contains("left out"))
  }

  /// A salvage would take the newer states away.
  @Test func `It is said which reactors can be recovered though the log is damaged`() throws {
    let folder = TemporaryFolder()
    let (path, _) = try StoreDamageTests.make(in: folder)
    try StoreDamageTests.execute("UPDATE batches SET bytes=zeroblob(9) WHERE first=4", on: path)
    let one = try Self.run("verify", path)
    #expect(one.status == 1)
    #expect(one.output.contains("snapshots at 6, 3, recoverable\n"))
    #expect(one.output.contains("snapshots at none, not recoverable\n"))
    #expect(!one.output.contains("all reactors can be recovered"))
    let store = SQLiteStore(path: path)
    let end = try store.open()
    #expect(try store.readSnapshots(of: 0).first?.position == 6)
    try store.commit(nil, entries: [], snapshots: [StoreRun.image(of: 7, at: end.position)])
    store.close()
    let all = try Self.run("salvage", path, folder.file("saved"))
    #expect(all.status == 1)
    #expect(all.output.contains("snapshots at 9, recoverable\n"))
    #expect(all.output.contains("all reactors can be recovered from this journal"))
    // One whose end is damaged cannot be opened.
    try StoreDamageTests.execute("UPDATE batches SET bytes=zeroblob(9) WHERE first=7", on: path)
    #expect(!(try Self.run("verify", path).output.contains(", recoverable")))
  }

  @Test func `Records are printed as JSON with the entry and the positions that are asked for`() throws {
    let folder = TemporaryFolder()
    let store = SQLiteStore(path: folder.file("journal"))
    _ = try store.open()
    var writer = RecordRunWriter()
    for entry in 0...1 as ClosedRange<UInt32> {
      writer.begin(entry: entry, kind: .mutations, version: 2)
      for index in 0..<3 as Range<UInt8> { writer.append { $0.append(index &+ 0xA0) } }
      writer.end()
    }
    writer.begin(entry: 1, kind: .digests, version: 0)
    writer.append { $0.append(7 as UInt64) }
    writer.end()
    let rows = [
      JournalEntryRow(number: 0, name: "a", since: 0), JournalEntryRow(number: 1, name: "b \"\n", since: 0),
    ]
    try store.commit(
      JournalBatch(epoch: 1, first: 1, count: 6, bytes: writer.take()), entries: rows, snapshots: [])
    store.close()

    struct Line: Decodable, Equatable {
      var position: Int?
      var before: Int?
      var kind, entry, hex: String
      var version, epoch: Int
    }
    func lines(_ options: String...) throws -> [Line] {
      let process = try Self.run(["dump", "--json"] + options + [store.path])
      #expect(process.status == 0)
      return try process.output.split(separator: "\n").map {
        try JSONDecoder().decode(Line.self, from: Data($0.utf8))
      }
    }
    let all = try lines()
    try #require(all.count == 7)
    #expect(all[0] == Line(position: 1, kind: "mutations", entry: "a", hex: "a0", version: 2, epoch: 1))
    #expect(
      all[6]
        == Line(before: 7, kind: "digests", entry: "b \"\n", hex: "0700000000000000", version: 0, epoch: 1))
    #expect(try lines("--entry", "a").map(\.position) == [1, 2, 3])
    #expect(try lines("--from", "3", "--until", "4").map(\.position) == [3, 4])
    #expect(try lines("--from", "5", "--until", "3") == [])
    let unknown = try Self.run("dump", "--json", "--entry", "c", store.path)
    #expect(unknown.status == 2)
    #expect(unknown.errors.contains("There is no entry 'c'. The journal has: a, b"))
  }

  @Test
  func
    `A replay up to a position whose records were removed is refused, and the journal is not called damaged`()
    throws
  {
    let folder = TemporaryFolder()
    let store = try StoreSQLiteTests.fill(folder, batches: 6)
    // The older snapshot of the first entry is at the base, that of the second one is later.
    try store.commit(
      nil, entries: [JournalEntryRow(number: 1, name: "late", since: 18)],
      snapshots: [6, 12].map { StoreRun.image(of: 0, at: $0) })
    try store.removeBatches(before: 7)
    store.close()
    #expect(try Self.run("verify", store.path).status == 0)
    for position in 1...5 {
      let early = try Self.run("replay", "--until", "\(position)", store.path)
      #expect(early.status == 2)
      #expect(early.output == "")
      #expect(
        early.errors.contains("The records up to 6 were removed by compact(). The first position of a is 6."))
    }
    for (position, image) in [(6, 6), (11, 6), (12, 12), (18, 12)] {
      let replay = try Self.run("replay", "--until", "\(position)", store.path)
      #expect(replay.status == 0)
      #expect(
        replay.output.contains("a: the snapshot at \(image) (version 3), then \(position - image) records"))
      #expect(replay.output.contains("late: the initial state, then 0 records"))
    }
    for options in [["--from", "1"], ["--from", "6", "--until", "9"], ["--until", "6"]] {
      let early = try Self.run(["dump", "--json"] + options + [store.path])
      #expect(early.status == 2)
      #expect(early.output == "")
      #expect(early.errors.contains("The records up to 6 were removed by compact(). The next position is 7."))
    }
    for (options, count) in [([], 12), (["--until", "8"], 2), (["--from", "7", "--until", "8"], 2)]
      as [([String], Int)]
    {
      let dump = try Self.run(["dump", "--json"] + options + [store.path])
      #expect(dump.status == 0)
      #expect(dump.output.split(separator: "\n").count == count)
    }
    // Without a snapshot, the state is lost.
    try StoreDamageTests.execute("DELETE FROM snapshots", on: store.path)
    let lost = try Self.run("replay", "--until", "5", store.path)
    #expect(lost.status == 1)
    #expect(lost.errors.contains("The record with position 1 is missing."))
  }

  @Test func `Output that cannot be written is complained of with status 4`() throws {
    let folder = TemporaryFolder()
    let (path, _) = try StoreDamageTests.make(in: folder)
    // The first one does not fit into the buffer of the output.
    for arguments in [["dump", "--json", path], ["info", path], ["verify", path], ["help"]] {
      let process = Self.make(arguments)
      let errors = Pipe()
      process.standardOutput = FileHandle(forWritingAtPath: "/dev/full")
      process.standardError = errors
      try process.run()
      let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      #expect(process.terminationStatus == 4)
      #expect(text.contains("The output cannot be written"))
    }
  }

  @Test func `A copy that cannot be written is told from a journal that cannot be read`() throws {
    let folder = TemporaryFolder()
    let (path, _) = try StoreDamageTests.make(in: folder)
    let before = try bytes(of: path)
    let (there, used) = (folder.file("there"), folder.file("used"))
    try before.write(to: there)
    let holder = try FileLock.exclusive(used + ".lock")
    // Of no folder, of a file that is there, and of one that another process makes.
    for (newPath, reason) in [
      (folder.file("none/saved"), "No such file or directory"), (there, "There is a file at"),
      (used, "Another process"),
    ] {
      let saved = try Self.run("salvage", path, newPath)
      #expect(saved.status == 4)
      #expect(saved.output == "")
      #expect(saved.errors.contains("\(newPath) cannot be written"))
      #expect(saved.errors.contains(reason))
    }
    #expect(try fileSize(there + ".lock") == nil)
    #expect(try bytes(of: path) == before)
    withExtendedLifetime(holder) {}
    let missing = try Self.run("salvage", folder.file("missing"), folder.file("saved"))
    #expect(missing.status == 1)
    #expect(!missing.errors.contains("cannot be written"))
    let source = SQLiteStore(path: path)
    _ = try source.open()
    #expect(try Self.run("salvage", path, folder.file("saved")).status == 3)
    withExtendedLifetime(source) {}
  }

  @Test(arguments: [["verify"], ["replay", "--until", "100000"]])
  func `Work that takes long shows a bar on a terminal`(_ command: [String]) throws {
    let folder = TemporaryFolder()
    let path = folder.file("journal")
    let store = try StoreSQLiteTests.fill(folder, batches: 300)
    store.close()
    // It must be stopped while it reads, which takes milliseconds.
    let showsBar = try (0..<50).contains { _ in
      try Self.errorsOnTerminal(of: command + [path], using: path) != ""
    }
    #expect(showsBar)
  }

  /// Stops a process for a time when it has opened a file, and returns what it shows on a terminal.
  private static func errorsOnTerminal(of command: [String], using path: String) throws -> String {
    // posix_openpt and unlockpt, which the module of the C library lacks.
    let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK)
    defer { close(terminal) }
    var (number, locked): (Int32, Int32) = (-1, 0)
    let (getNumber, setLock): (UInt, UInt) = (0x8004_5430, 0x4004_5431)
    try #require(ioctl(terminal, getNumber, &number) == 0 && ioctl(terminal, setLock, &locked) == 0)
    let other = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
    try #require(other >= 0)
    defer { close(other) }
    let process = make(command)
    process.standardError = FileHandle(fileDescriptor: other)
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    let files = "/proc/\(process.processIdentifier)/fd"
    func hasOpened() -> Bool {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: files)) ?? []
      return names.contains {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(files)/\($0)")) == path
      }
    }
    while process.isRunning, !hasOpened() {}
    // The bar is there since before, and is shown when it is half a second old.
    kill(process.processIdentifier, SIGSTOP)
    usleep(600_000)
    kill(process.processIdentifier, SIGCONT)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = read(terminal, &bytes, bytes.count)
    let shown = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    if shown != "" {
      #expect(shown.hasPrefix("\r[") && shown.contains("] ") && shown.contains(" %"))
      // It is removed at the end.
      #expect(shown.hasSuffix("\r\u{1B}[K"))
    }
    return shown
  }

  @Test func `Wrong usage ends with status 2 and a journal in use with status 3`() throws {
    let folder = TemporaryFolder()
    #expect(try Self.run().status == 2)
    #expect(try Self.run("verify").status == 2)
    #expect(try Self.run("verify", "a", "b").status == 2)
    #expect(try Self.run("dump", "a").status == 2)
    #expect(try Self.run("dump", "--json", "--from", "x", "a").status == 2)
    #expect(try Self.run("replay", "a").status == 2)
    #expect(try Self.run("info", "--fast", "a").status == 2)
    #expect(try Self.run("help").status == 0)
    let missing = try Self.run("info", folder.file("none"))
    #expect(missing.status == 1)
    #expect(missing.errors.hasPrefix("reactor-journal: "))
    #expect(folder.names == [])
    let store = try StoreSQLiteTests.fill(folder, batches: 1)
    for command in ["info", "verify"] { #expect(try Self.run(command, store.path).status == 3) }
    withExtendedLifetime(store) {}
  }

  @Test
  func `Another process is refused a journal that this one has open, and gets it when this one was killed`()
    throws
  {
    let folder = TemporaryFolder()
    let store = try StoreSQLiteTests.fill(folder, batches: 2)
    // A process that only holds the lock file's lock, and is killed with it.
    store.close()
    let holder = Process()
    holder.executableURL = URL(fileURLWithPath: "/usr/bin/flock")
    holder.arguments = ["--no-fork", store.path + ".lock", "sleep", "\(2 * patience)"]
    try holder.run()
    let deadline = ContinuousClock.now + .seconds(patience)
    while (try? Self.run("info", store.path).status) != 3, ContinuousClock.now < deadline { usleep(10_000) }
    try #require(holder.isRunning)
    #expect(throws: JournalError.locked) { try SQLiteStore(path: store.path).open() }
    kill(holder.processIdentifier, SIGKILL)
    holder.waitUntilExit()
    #expect(try SQLiteStore(path: store.path).open().position == 6)
  }
}
