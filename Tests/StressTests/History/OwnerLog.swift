/// What an owner writes down; nothing without a recorder.
///
/// A value that nothing guards but the promise that there is one owner at a time: ThreadSanitizer sees it
/// broken.
struct OwnerLog: Sendable {
  private(set) var history = History()
  private let recorder: HistoryRecorder?
  private var turnBegin: UInt64 = 0

  init(_ recorder: HistoryRecorder?) {
    self.recorder = recorder
    if recorder != nil { history.turns = [] }
  }

  mutating func beginTurn() {
    guard let recorder else { return }
    turnBegin = recorder.clock.now()
  }

  mutating func endTurn() {
    guard let recorder else { return }
    history.turns?.append(
      History.Turn(begin: turnBegin, end: recorder.clock.now(), thread: HistoryRecorder.thread))
  }

  mutating func receive(_ element: History.ElementID) {
    guard let recorder else { return }
    history.receptions.append(
      History.Reception(element: element, time: recorder.clock.now(), thread: HistoryRecorder.thread))
  }

  /// The slots of what was received so far have been given back.
  mutating func noteReleased() {
    guard let recorder else { return }
    history.releases.append(History.Release(time: recorder.clock.now(), released: history.receptions.count))
  }

  /// What the owner sends to itself.
  mutating func sendAsOwner(_ producer: Int, _ sequence: Int, _ send: () -> Void) {
    guard let recorder else { return send() }
    var record = recorder.send(producer, sequence) {
      send()
      return .accepted
    }
    record.isReentrant = true
    history.sends.append(record)
  }
}
