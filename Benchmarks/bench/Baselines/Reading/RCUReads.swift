import CBenchmarkLimits

/// liburcu: the owner publishes a node once per turn, and the one before is freed after a grace period.
///
/// `@unchecked Sendable`: any thread reads, and one publishes.
final class RCUReads: ReadSubject, @unchecked Sendable {
  private let rcu: OpaquePointer
  private let sign: StopSign

  init(_ sign: StopSign) throws {
    guard let rcu = bl_rcu_create(bl_snapshot()) else { throw SubjectFailure("out of memory") }
    self.rcu = rcu
    self.sign = sign
  }

  deinit {
    bl_rcu_destroy(rcu)
  }

  func enterThread() { bl_rcu_enter_thread() }
  func leaveThread() { bl_rcu_leave_thread() }

  func own() {
    var state = ReadState()
    read { state = $0 }
    while !sign.isUp {
      for _ in 0..<StopSign.turn where !sign.isUp { state.addNext() }
      guard bl_rcu_publish(rcu, bl_snapshot(count: state.count, sum: state.sum)) else {
        preconditionFailure("out of memory")
      }
    }
  }

  @inline(__always)
  func read(_ body: (ReadState) -> Void) {
    let snapshot = bl_rcu_read(rcu)
    body(ReadState(count: snapshot.count, sum: snapshot.sum))
  }
}
