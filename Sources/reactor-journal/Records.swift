import ReactorJournal

/// The commands that print records.

func dump(_ path: String, _ filter: Filter) throws(Failure) {
  var refusal: String?
  try withJournal(path) { store, end, fault throws(JournalError) in
    let names = end.names
    // In a damaged journal, an entry may have lost its name.
    if fault == nil, let entry = filter.entry, !names.values.contains(entry) {
      refusal =
        "There is no entry '\(entry)'. The journal has: \(names.values.sorted().joined(separator: ", "))"
      return
    }
    if fault == nil, filter.needsRecords(upTo: end.base) {
      refusal = "\(removal(upTo: end.base)) The next position is \(end.base + 1)."
      return
    }
    try store.readBatches(from: max(filter.from ?? 0, end.base + 1)) { batch throws(JournalError) in
      var reader = RecordRunReader(batch.bytes.span.bytes, first: batch.first)
      while var run = try reader.next() {
        var position = run.first
        let name = names[run.entry] ?? "\(run.entry)"
        do throws(MalformedRecord) {
          while let record = try run.next() {
            if filter.contains(position), filter.entry == nil || filter.entry == name {
              print(line(record, of: run, entry: name, position: position, epoch: batch.epoch))
            }
            if run.kind == .mutations { position += 1 }
          }
        } catch {
          throw .malformed(position: position)
        }
      }
      return reader.position <= filter.until
    }
  }
  if let refusal { throw Failure(message: refusal, status: .usage) }
}

private func removal(upTo base: UInt64) -> String { "The records up to \(base) were removed by compact()." }

func showReplay(_ path: String, until position: UInt64) throws(Failure) {
  var bar = ProgressBar()
  defer { bar.end() }
  var removed: String?
  try withJournal(path) { store, end, _ throws(JournalError) in
    var starts: [UInt32: UInt64] = [:]
    var counts: [UInt32: UInt64] = [:]
    // Not their bytes: together these may be many times the memory of the machine.
    var images: [UInt32: (position: UInt64, version: UInt16)] = [:]
    let last = min(position, end.position)
    // A retired one has no state any more.
    let entries = end.entries.filter { !$0.isRetired }
    for entry in entries {
      let snapshots = try store.readSnapshots(of: entry.number)
      images[entry.number] = snapshots.first { $0.position <= position }.map { ($0.position, $0.version) }
      let image = images[entry.number]
      // A snapshot that is older than the records that are left needs none of the others.
      let start = image.map { max($0.position, end.base) } ?? entry.since
      starts[entry.number] = start
      // Without any snapshot, the removed records are missing, and the journal is damaged.
      if image == nil, start < end.base, start < last, let oldest = snapshots.last {
        removed = "\(removal(upTo: end.base)) The first position of \(entry.name) is \(oldest.position)."
        return
      }
    }
    // An entry that is later than the position has nothing to replay.
    let first = starts.values.filter { $0 < last }.min()
    if let first {
      try store.readBatches(from: first + 1) { batch throws(JournalError) in
        var reader = RecordRunReader(batch.bytes.span.bytes, first: batch.first)
        while let run = try reader.next() {
          guard run.kind == .mutations, run.first <= last else { continue }
          let start = max(run.first, (starts[run.entry] ?? 0) + 1)
          let runEnd = min(run.first + UInt64(run.count) - 1, last)
          if start <= runEnd { counts[run.entry, default: 0] += runEnd - start + 1 }
        }
        bar.show(min(1, Double(reader.position - first) / Double(last - first)))
        return reader.position <= last
      }
    }
    bar.end()
    for entry in entries {
      let image = images[entry.number].map { "the snapshot at \($0.position) (version \($0.version))" }
      print(
        "\(entry.name): \(image ?? "the initial state"), then \(counts[entry.number] ?? 0) records up to \(last)"
      )
    }
  }
  if let removed { throw Failure(message: removed, status: .usage) }
}

/// Opens a journal and closes it after `body`.
private func withJournal(
  _ path: String, _ body: (SQLiteStore, JournalEnd, _ fault: JournalError?) throws(JournalError) -> Void
) throws(Failure) {
  let store = SQLiteStore(path: path, access: .readOnly)
  defer { store.close() }
  do throws(JournalError) {
    // What is before the fault is printed, and then the fault.
    let (end, fault) = try store.openDamaged()
    try body(store, end, fault)
    if let fault { throw fault }
  } catch {
    throw Failure(error)
  }
}

extension JournalEntryRow {
  /// The name that is printed: another entry may have that of a retired one.
  var label: String { isRetired ? "\(name) (retired)" : name }
}

extension JournalEnd {
  fileprivate var names: [UInt32: String] {
    Dictionary(entries.map { ($0.number, $0.label) }, uniquingKeysWith: { first, _ in first })
  }
}

/// A record as a JSON object. What is not a mutation has the position of the next one as `before`.
private func line(
  _ record: RawSpan, of run: borrowing RecordRun, entry: String, position: UInt64, epoch: UInt64
) -> String {
  let place = run.kind == .mutations ? "position" : "before"
  var hex = ""
  for index in 0..<record.byteCount {
    let byte = record.unsafeLoad(fromByteOffset: index, as: UInt8.self)
    hex += (byte < 16 ? "0" : "") + String(byte, radix: 16)
  }
  return
    "{\"\(place)\":\(position),\"kind\":\"\(run.kind)\",\"entry\":\(quoted(entry)),\"version\":\(run.version),"
    + "\"epoch\":\(epoch),\"hex\":\"\(hex)\"}"
}

/// A text as JSON.
private func quoted(_ text: String) -> String {
  var result = "\""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\"", "\\": result += "\\\(scalar)"
    case "\u{0}"..<"\u{20}":
      let hex = String(scalar.value, radix: 16)
      result += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
    default: result.unicodeScalars.append(scalar)
    }
  }
  return result + "\""
}
