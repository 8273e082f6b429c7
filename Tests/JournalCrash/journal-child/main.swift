import Glibc
import JournalCrashSupport
import ReactorJournal
import ReactorRuntime

// Sends durably until it is killed: see KillTests. Its arguments are the journal and the file with the acknowledgements.
//
// Or replays a journal with a reduce that traps at a number, 0 for none: see TrapTests. Its arguments are --replay, the journal, the
// number, and --again if it replays a record at which two processes have ended.

func end(_ message: String) -> Never {
  let line = Array("journal-child: \(message)\n".utf8)
  _ = write(STDERR_FILENO, line, line.count)
  exit(1)
}

func replay(_ path: String, trapsAt number: UInt64?, again: Bool) throws(JournalError) -> Never {
  var configuration = JournalConfiguration()
  configuration.replaysTrappedRecords = again
  try Fragile(Journal(at: path, configuration: configuration), trapsAt: number).recover()
  exit(0)
}

let arguments = CommandLine.arguments
if arguments.count > 3, arguments[1] == "--replay" {
  do {
    try replay(arguments[2], trapsAt: UInt64(arguments[3]), again: arguments.last == "--again")
  } catch {
    end("\(error)")
  }
}

guard arguments.count == 3, let seen = Acknowledgements(path: arguments[2]) else {
  end("usage: journal-child JOURNAL ACKNOWLEDGEMENTS, or --replay JOURNAL NUMBER [--again]")
}

do {
  let parent = getppid()
  let journal = try Journal(at: arguments[1], configuration: .busy)
  let reactors = (0..<2).map { Sequences(journal, "sequences/\($0)") }
  for (index, reactor) in reactors.enumerated() {
    try reactor.recover()
    let state = reactor.currentState
    if !state.isWhole { end("the recovered state is not whole") }
    // In each process: the next one continues from what it has found, so that a number that was lost is soon there again.
    for (account, number) in state.numbers.enumerated() {
      if number < seen[index, account] { end("a confirmed action is lost") }
      if number < seen[shownBy: index, account] { end("a state that was shown is lost") }
    }
    _ = reactor.state.subscribe(onNext: { state in
      for account in 0..<Sequences.accounts { seen[shownBy: index, account] = state.numbers[account] }
    })
  }
  await withTaskGroup(of: Void.self) { group in
    for (index, reactor) in reactors.enumerated() {
      for account in 0..<Sequences.accounts {
        group.addTask {
          var number = reactor.latestState.numbers[account]
          // A test that was itself killed kills nobody.
          while getppid() == parent {
            // Some are only confirmed by the next one.
            for _ in 0..<(number % 3) {
              reactor.send(.next(account: account))
              number += 1
            }
            do { try await reactor.sendDurably(.next(account: account)) } catch { end("not sent: \(error)") }
            number += 1
            seen[index, account] = number
          }
        }
      }
    }
    group.addTask {
      while getppid() == parent {
        do { try await journal.compact() } catch { end("not compacted: \(error)") }
      }
    }
  }
} catch {
  end("\(error)")
}
