import ReactorCore
import ReactorRuntime

/// An item of `words` times 8 bytes, of which each word is written by the producer and read by the consumer.
struct Payload<let words: Int>: CarryingAction {
  private static var valueBits: UInt64 { 48 }

  private let content: InlineArray<words, UInt64>

  static func makeParts() {}

  /// - Parameter item: The producer takes 16 bits, and the value 48.
  @inline(__always)
  static func make(_ item: Item, _: Void) -> Payload {
    let first = item.producer << valueBits | item.value
    return Payload(content: InlineArray { first &+ UInt64($0) })
  }

  /// The item; one that nobody sent if the words do not belong together.
  @inline(__always)
  var item: Item {
    let first = content[0]
    var difference: UInt64 = 0
    for index in content.indices { difference |= content[index] ^ (first &+ UInt64(index)) }
    guard difference == 0 else { return Item(producer: .max, value: .max) }
    return Item(producer: first >> Self.valueBits, value: first & ((1 << Self.valueBits) - 1))
  }
}

/// One ring of either core with items of any size, item by item: see ``RingSubject``.
final class PayloadRingSubject<C: Core, Carried: CarryingAction>: FanInSubject where Carried.Parts == Void {
  private let ring: C.Ring
  private let inspector: Inspector?

  init(_ setup: SubjectSetup) throws {
    ring = try C.Ring(
      capacity: setup.capacity, size: MemoryLayout<Carried>.stride,
      alignment: MemoryLayout<Carried>.alignment, startingAt: 0)
    inspector = setup.inspector
  }

  deinit { ring.destroy() }

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values {
      let item = Item(producer: UInt64(producer), value: value)
      while !ring.trySend(Carried.make(item, ())).isAccepted { FullWait.yield() }
    }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    var tally = Tally(inspector: inspector)
    var pacer = Pacer()
    return try quota.poll(into: &tally) { tally in
      let received = ring.drain(upTo: .max, of: Carried.self) { carried, _ in tally.reduce(carried.item) }
      if received > 0 { pacer.wait(afterReceiving: received, on: C.self) }
      return received > 0
    }
  }
}

/// A number of observers that each get every state.
enum Subscribers<let count: Int>: StreamShape {
  static var observers: Int { count }
}

/// A state behind a pthread mutex, and closures that are called with each new one: what a program without streams has. Its
/// actions are reduced as those of ``StreamSubject`` are.
///
/// `@unchecked Sendable`: `state`, at a fixed address, is used only under `mutex`.
final class CallbacksBaseline<Shape: StreamShape>: FanInSubject, @unchecked Sendable {
  private let mutex = PthreadMutex()
  private let state: Placed<StreamState>
  private let observers: [Seen]
  private let callbacks: [@Sendable (StreamState) -> Void]

  init(_ setup: SubjectSetup) {
    state = Placed(StreamState(tally: Tally(inspector: setup.inspector)))
    observers = (0..<Shape.observers).map { _ in Seen() }
    callbacks = observers.map { seen in { _ in seen.note() } }
  }

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values {
      mutex.withLock {
        state.value.tally.reduce(Item(producer: UInt64(producer), value: value))
        for callback in callbacks { callback(state.value) }
      }
    }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try quota.awaitProducers()
    let totals = mutex.withLock { state.value.totals }
    for seen in observers where seen.count != totals.count {
      throw SubjectFailure("a callback has seen \(seen.count) states of \(totals.count) actions")
    }
    return totals
  }
}
