import ReactorRuntime

/// Hands finished works back to their connections, and messages to their receivers.
///
/// ```
///  messages ─▶ queue of the receivers' loop ─▶ connections
///  works ────▶ the same queue, or at once if the connection is on this loop and no message may wait for it
/// ```
///
/// A message always goes through the queue of its receivers' loop, also from that loop itself: so none overtakes an earlier one. A
/// shard hands messages over in the order of its commands, and never on two threads at a time: so all loops get the messages of a
/// channel in the order in which they were published. A shard in memory does so before it runs another work; a ``DurableShard`` at
/// the commit, when later works may have run, and there the order is that in which the journal completes what it was asked. The
/// work of a client that has subscribed does not overtake a message, either: what was published before it leaves a channel comes
/// before the reply that says so.
enum Deliveries {
  enum Item: Sendable {
    case work(Work)
    case refusal(Work)
    case message([Int: LoopBound<Connection>], Message)

    /// The loop of the worker.
    func deliver(by worker: Worker) {
      switch self {
      case .work(let work): work.connection.value.complete(work)
      case .refusal(let work): work.connection.value.close()
      case .message(let receivers, let message):
        for receiver in receivers.values { worker.push(message, to: receiver.value) }
      }
    }

    /// How many bytes its receivers get, with something for each message; 0 for a work.
    var messageSize: Int {
      if case .message(let receivers, let message) = self { 128 + receivers.count * message.size } else { 0 }
    }
  }

  /// Hands a work back, and what it has published. Any thread.
  static func deliver(_ work: Work) {
    sendMessages(of: work)
    complete(work)
  }

  /// Hands over what a work has published: for the works of a shard one after another, in their order. Any thread.
  static func sendMessages(of work: Work) {
    for (audiences, message) in work.takeMessages() {
      for audience in audiences {
        audience.home.handOver(.message(audience.connections, message))
        work.addTarget(audience.home)
      }
    }
  }

  /// Hands a work back. If it has published to a loop for which much is under way, that loop does it later: until then its client
  /// is not read. Any thread.
  static func complete(_ work: Work) {
    if work.targets.contains(where: { $0.delay(work) }) { return }
    let isHere = work.home.loop.isCurrent
    if isHere, !work.home.hasMessagesUnderWay || !work.connection.value.mayGetMessages {
      work.connection.value.complete(work)
    } else {
      work.home.handOver(.work(work))
    }
  }

  /// Ends the connection of a work that was refused: nobody knows what its commands have done. Any thread.
  static func refuse(_ work: Work) { work.home.handOver(.refusal(work)) }
}
