import ReactorJournal

/// What the process ends with.
enum ExitStatus: Int32 {
  case fine = 0
  case damaged = 1
  case usage = 2
  case locked = 3
  case outputLost = 4
}

/// Why a command ends early.
struct Failure: Error {
  var message: String
  var status: ExitStatus

  static func usage(_ message: String) -> Failure {
    Failure(message: "\(message)\n\n\(Command.usage)", status: .usage)
  }

  init(message: String, status: ExitStatus) {
    self.message = message
    self.status = status
  }

  init(_ error: JournalError) {
    self.init(message: error.text, status: error == .locked ? .locked : .damaged)
  }
}

/// Which records are printed.
struct Filter: Equatable {
  var entry: String?
  var from: UInt64?
  var until: UInt64 = .max

  func contains(_ position: UInt64) -> Bool { from ?? 0 <= position && position <= until }

  /// Whether it asks for records up to `base`, which were removed.
  func needsRecords(upTo base: UInt64) -> Bool { base > 0 && min(from ?? .max, until) <= base }
}

/// A command with its arguments.
enum Command: Equatable {
  case help
  case info(String)
  case verify(String)
  case dump(String, Filter)
  case replay(String, until: UInt64)
  case salvage(String, to: String)

  static let usage = """
    usage: reactor-journal COMMAND …

      info FILE                   what is in the journal: entries, positions, snapshots
      verify FILE                 reads all of it, and reports the first fault, damaged snapshots, and which reactors can be
                                  recovered all the same
      dump --json FILE            prints the records, one JSON object in each line
           [--entry NAME]         only those of one reactor; 'NAME (retired)' if its entry was retired
           [--from P] [--until P] only those with these positions, which must not be those of removed records
      replay --until P FILE       prints what would be replayed to get the states at a position: the snapshot and the
                                  records of each reactor. The states themselves need the program's types: there,
                                  Journal.replay gives them. Not for positions whose records were removed.
      salvage FILE NEWFILE        copies what is before the first fault into a new journal; until everything is copied, it
                                  is NEWFILE.incomplete. Before NEWFILE takes the place of FILE, remove FILE-wal and
                                  FILE-replay

    No command changes FILE. The journal must not be open in a process that writes.

    exit status: 0 fine · 1 FILE is damaged, or cannot be read · 2 wrong usage, or what is asked for was removed ·
                 3 another process has the journal open · 4 the output, or NEWFILE, could not be written

    """

  init(_ arguments: [String]) throws(Failure) {
    guard let name = arguments.first else { throw .usage("There is no command.") }
    var parser = Arguments(rest: Array(arguments.dropFirst()))
    switch name {
    case "help", "--help", "-h": self = .help
    case "info": self = .info(try parser.files(1)[0])
    case "verify": self = .verify(try parser.files(1)[0])
    case "dump":
      guard parser.takeFlag("--json") else { throw .usage("dump needs --json.") }
      var filter = Filter()
      filter.entry = try parser.takeValue("--entry")
      filter.from = try parser.takePosition("--from")
      filter.until = try parser.takePosition("--until") ?? filter.until
      self = .dump(try parser.files(1)[0], filter)
    case "replay":
      guard let position = try parser.takePosition("--until") else { throw .usage("replay needs --until.") }
      self = .replay(try parser.files(1)[0], until: position)
    case "salvage":
      let files = try parser.files(2)
      self = .salvage(files[0], to: files[1])
    default: throw .usage("There is no command '\(name)'.")
    }
  }
}

/// What follows a command, less what was taken.
private struct Arguments {
  var rest: [String]

  mutating func takeFlag(_ name: String) -> Bool {
    guard let index = rest.firstIndex(of: name) else { return false }
    rest.remove(at: index)
    return true
  }

  mutating func takeValue(_ name: String) throws(Failure) -> String? {
    guard let index = rest.firstIndex(of: name) else { return nil }
    guard index + 1 < rest.count else { throw .usage("\(name) needs a value.") }
    rest.remove(at: index)
    return rest.remove(at: index)
  }

  mutating func takePosition(_ name: String) throws(Failure) -> UInt64? {
    guard let text = try takeValue(name) else { return nil }
    guard let position = UInt64(text) else { throw .usage("\(name) needs a position, which is a number.") }
    return position
  }

  func files(_ count: Int) throws(Failure) -> [String] {
    if let option = rest.first(where: { $0.hasPrefix("--") }) {
      throw .usage("There is no option \(option) here.")
    }
    guard rest.count == count else {
      throw .usage("This command needs \(count == 1 ? "a file" : "two files").")
    }
    return rest
  }
}
