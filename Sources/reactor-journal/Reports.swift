import ReactorJournal

/// The commands that examine a journal as a whole.

func showInfo(_ path: String) throws(Failure) -> ExitStatus {
  do throws(JournalError) {
    let store = SQLiteStore(path: path, access: .readOnly)
    defer { store.close() }
    let (end, fault) = try store.openDamaged()
    print("records    \(end.position - end.base) (positions \(end.base + 1) to \(end.position))")
    print("epoch      \(end.epoch)")
    print("entries    \(end.entries.count)")
    for entry in end.entries {
      if let until = entry.until {
        print("  \(entry.name): retired at \(until)")
        continue
      }
      let images = try store.describeSnapshots(of: entry.number).map { image in
        "\(image.position) (version \(image.version), \(image.byteCount) bytes)"
      }
      let text = images.isEmpty ? "none" : images.joined(separator: ", ")
      print("  \(entry.name): since \(entry.since), snapshots at \(text)")
    }
    return finish(fault, "the head and the last batch are good")
  } catch {
    throw Failure(error)
  }
}

func verify(_ path: String) throws(Failure) -> ExitStatus {
  var bar = ProgressBar()
  do throws(JournalError) {
    let report = try JournalVerifier.verify(path) { bar.show($0) }
    bar.end()
    show(report)
    if report.fault == nil, report.damagedSnapshotCount > 0 {
      print("DAMAGED: \(snapshotCount(report.damagedSnapshotCount)), and nothing else")
      return .damaged
    }
    return finish(report.fault, "no fault found")
  } catch {
    bar.end()
    throw Failure(error)
  }
}

func salvage(_ path: String, _ newPath: String) throws(Failure) -> ExitStatus {
  var bar = ProgressBar()
  let report: JournalReport
  do throws(SalvageError) {
    let source = SQLiteStore(path: path, access: .readOnly)
    report = try JournalVerifier.salvageOrTell(source, to: newPath) { bar.show($0) }
    bar.end()
  } catch {
    bar.end()
    switch error {
    case .source(let reason): throw Failure(reason)
    case .target(let reason):
      throw Failure(message: "\(newPath) cannot be written. \(reason.text)", status: .outputLost)
    }
  }
  show(report)
  if let fault = report.fault {
    // Only the head or the row of an entry is damaged.
    let part =
      fault == .badChecksum(position: 0) ? "copied: all records, up to" : "left out: everything after"
    print("\(part) position \(report.position). \(fault.text)")
  }
  do throws(JournalError) {
    // The new journal may still lack what no copy can give it.
    if let fault = try JournalVerifier.verify(newPath).fault {
      print("DAMAGED: \(fault.text)")
      return .damaged
    }
  } catch {
    throw Failure(error)
  }
  print(
    """
    saved in \(newPath)
    Before it takes the place of another journal, remove the files of that one with -wal and -replay behind its name.
    """)
  return report.fault == nil ? .fine : .damaged
}

private func show(_ report: JournalReport) {
  print(
    "good up to \(report.position): \(report.position - report.base) records in \(report.batchCount) batches, "
      + "\(report.byteCount) bytes")
  for entry in report.entries {
    print(
      "  \(entry.row.label): \(entry.recordCount) records, \(entry.byteCount) bytes, "
        + "last at \(entry.lastPosition.map { "\($0)" } ?? "none"), "
        + "snapshots at \(entry.snapshots.isEmpty ? "none" : entry.snapshots.map { "\($0.position)" }.joined(separator: ", "))"
        + (entry.damagedSnapshotCount > 0 ? ", \(snapshotCount(entry.damagedSnapshotCount))" : "")
        + (report.fault == nil || entry.row.isRetired
          ? "" : entry.isRecoverableDespiteFault ? ", recoverable" : ", not recoverable")
    )
  }
  guard report.fault != nil, !report.entries.isEmpty,
    report.entries.allSatisfy({ $0.isRecoverableDespiteFault || $0.row.isRetired })
  else { return }
  print(
    """
    all reactors can be recovered from this journal, and a salvage would lose their newest states. Start all of them, and call compact()
    until it has stored two states of each that are behind the damage, with records in between: repeat that until `verify` finds no
    fault. The records before these states are removed.
    """
  )
}

private func snapshotCount(_ count: Int) -> String { "\(count) damaged snapshot\(count == 1 ? "" : "s")" }

/// Says whether there is a fault.
private func finish(_ fault: JournalError?, _ good: String) -> ExitStatus {
  guard let fault else {
    print(good)
    return .fine
  }
  print("DAMAGED: \(fault.text)")
  return .damaged
}

extension JournalError {
  /// For a person.
  var text: String {
    switch self {
    case .locked: "Another process has the journal open."
    case .unknownFormat(let message): "This is no journal that this program knows. \(message)"
    case .unknownVersion(let entry, let version, let position):
      "The record at position \(position) has version \(version), which \(entry) does not know."
    case .badChecksum(0): "The head of the journal is not what was written."
    case .badChecksum(let position): "The batch at position \(position) is not what was written."
    case .gap(let position): "The record with position \(position) is missing."
    case .epochWentBack(let position): "The batch at position \(position) was written by an older process."
    case .malformed(let position, let reason):
      reason.map { "The record at position \(position) cannot be decoded: \($0)" }
        ?? "The batch at position \(position) is no sequence of records."
    case .diskFull: "The disk is full."
    case .failed(let code, let message): "\(message) (code \(code))"
    case .fenced: "An earlier error has ended the journal."
    case .trapped(let entry, let position): "Replaying position \(position) of \(entry) stopped the process."
    case .diverged(let entry, let position):
      "The state of \(entry) at position \(position) has another digest."
    case .unreadableSnapshot(let entry, let position, let reason):
      "The state of \(entry) at position \(position) cannot be read\(reason.map { " (\($0))" } ?? ""), and the records before it are removed."
    case .removed(let entry, let position):
      "No earlier state of \(entry) is kept: the records up to \(position) were removed by compact()."
    case .retired(let entry): "The entry \(entry) was retired."
    case .inUse(let entry): "A reactor uses the entry \(entry)."
    case .snapshotNotEncoded(let entry, let message):
      "The state of \(entry) cannot be written to a snapshot: \(message)"
    case .snapshotTooLarge(let entry, let byteCount):
      "The state of \(entry) has \(byteCount) bytes, which is too large for a snapshot."
    }
  }
}
