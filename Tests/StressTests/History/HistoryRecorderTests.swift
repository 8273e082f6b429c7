import TestSupport
import Testing

@Suite struct HistoryRecorderTests {
  @Test func `what a thread reports during a send may have given way since that send's beginning`() {
    let recorder = HistoryRecorder()
    @Sendable func note(_ sequence: Int) {
      recorder.noteRefusal(of: HistoryRule.element(0, sequence), .dropped)
    }
    let send = recorder.reportedSend(1, 0, ignoring: .dropped) {
      note(0)
      #expect(Threads.start { note(1) }.wait())
    }
    note(2)
    let reports = recorder.history(OwnerLog(recorder), [send]).reports.sorted { $0.time < $1.time }
    #expect(send.outcome == .accepted)
    #expect(reports.map(\.element.sequence) == [0, 1, 2])
    #expect(reports.map(\.earliest) == [send.begin, nil, nil])
  }
}
