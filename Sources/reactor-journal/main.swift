import ReactorJournal

/// Examines journals of durable reactors: see `Command.usage`.
func run(_ arguments: [String]) -> ExitStatus {
  do throws(Failure) {
    switch try Command(arguments) {
    case .help: print(Command.usage, terminator: "")
    case .info(let path): return try showInfo(path)
    case .verify(let path): return try verify(path)
    case .dump(let path, let filter): try dump(path, filter)
    case .replay(let path, let position): try showReplay(path, until: position)
    case .salvage(let path, let newPath): return try salvage(path, newPath)
    }
    return .fine
  } catch {
    Terminal.complain(error.message)
    return error.status
  }
}

exitProcess(run(Array(CommandLine.arguments.dropFirst())))
