import BenchmarkSupport
import CBenchmarkLimits
import Glibc
import Synchronization

/// A state of some size, of which an action changes one element. It is as a service has it: a collection, and a few fields
/// about it, so that a reader notices a torn state.
protocol ElementState: Sendable {
  /// A state with `count` elements, all zero.
  init(count: Int)

  /// The work of an action.
  mutating func set(_ key: Int, to value: UInt64)

  /// The number of changes, and what ``mark(after:)`` returns for it, unless the state is torn.
  var changes: UInt64 { get }
  var mark: UInt64 { get }
  /// The element of a key.
  func value(of key: Int) -> UInt64
}

extension ElementState {
  static func mark(after changes: UInt64) -> UInt64 { changes &* 0x9E37_79B9_7F4A_7C15 }
}

/// Something that holds an ``ElementState``, which one thread changes and others read. One instance serves one repetition.
protocol ElementSubject: AnyObject, Sendable {
  init(count: Int) throws

  /// Sets the elements of the next keys, one after the other. They may be set later than it returns. One thread at a time.
  func change(_ times: Int, _ keys: inout KeySequence)

  /// Returns when all are set, and are seen by a reader. The thread that changes. Throws ``Stalled`` if one is lost.
  func finishChanges(until deadline: UInt64) throws

  /// Calls `body` with the number of changes, the mark, and the element of `key`, all of one state. Any thread.
  func read(_ key: Int, _ body: (ElementNote) -> Void)

  /// Calls `body` with what ``read(_:_:)`` finds for each key below `count`, in order. For subjects whose readers do not wait in a
  /// thread.
  func readEach(_ count: Int, _ body: (ElementNote) -> Void)

  /// Reads until no more are to be. Called on a thread of each reader. For subjects whose readers do not wait in a thread.
  func readAll(_ reading: inout ElementReading)
}

extension ElementSubject {
  func finishChanges(until deadline: UInt64) {}

  func readEach(_ count: Int, _ body: (ElementNote) -> Void) {
    for key in 0..<count { read(key, body) }
  }

  @inline(__always)
  func readAll(_ reading: inout ElementReading) {
    while let key = reading.next() {
      read(key) { reading.check($0) }
      if let pause = reading.pause { usleep(pause) }
    }
  }
}

/// What one reader reads, and what it has found.
struct ElementReading: Sendable {
  private var keys: KeySequence
  private let sign: StopSign
  /// Microseconds from one read to the next; nil reads without a pause.
  let pause: UInt32?
  private(set) var reads = 0
  private(set) var wrong = 0
  private var last: UInt64 = 0

  init(_ keys: KeySequence, until sign: StopSign, pause: UInt32?) {
    (self.keys, self.sign, self.pause) = (keys, sign, pause)
  }

  /// The key to read next; nil if the reader is to end.
  @inline(__always)
  mutating func next() -> Int? {
    guard !sign.isUp else { return nil }
    reads += 1
    return keys.next()
  }

  /// Whether the state is whole, and not older than the one before.
  @inline(__always)
  mutating func check(_ note: ElementNote) {
    if !note.isWhole || note.value > note.changes { wrong += 1 }
    if note.changes < last { wrong += 1 }
    last = note.changes
  }
}

/// What a reader notes of a state.
struct ElementNote: Sendable {
  let changes: UInt64
  let mark: UInt64
  let value: UInt64

  /// Whether the mark is that of ``ElementState/mark(after:)``.
  @inline(__always)
  var isWhole: Bool { mark == changes &* 0x9E37_79B9_7F4A_7C15 }
}

/// Keys that are chosen uniformly, from a seed.
struct KeySequence: Sendable {
  private var state: UInt64
  private let count: UInt64

  init(count: Int, seed: UInt64) {
    self.count = UInt64(count)
    state = seed &* 2 &+ 1
  }

  @inline(__always)
  mutating func next() -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(truncatingIfNeeded: state.multipliedFullWidth(by: count).high)
  }
}

/// A writer that changes elements as fast as it can: alone, while a thread reads once per millisecond, and while one and
/// four threads read without a pause. All in one repetition, on one subject.
struct SizedStateShape: Sendable {
  /// How many elements the state has, except in a smoke run.
  let count: Int

  static let parts = [
    CaseOutline.Part("alone", .nanoseconds), CaseOutline.Part("rarely-read", .nanoseconds),
    CaseOutline.Part("1-reader", .nanoseconds), CaseOutline.Part("4-readers", .nanoseconds),
    CaseOutline.Part("1-reads", .millionPerSecond), CaseOutline.Part("4-reads", .millionPerSecond),
  ]

  func run<Subject: ElementSubject>(_: Subject.Type, _ request: RepetitionRequest) throws -> Measurement {
    let count = request.reactors
    let subject = try Subject(count: count)
    let bench = SizedStateBench(subject, count: count)
    // Longer than other cases, and each stint after another one with the same readers: readers that stay long make a replayed
    // state be copied once more, which takes as long as 100,000 changes of a large dictionary.
    let each = request.duration
    func stint(readers: Int, pause: UInt32? = nil) throws -> SizedStateBench<Subject>.Stint {
      _ = try bench.run(readers: readers, pause: pause, nanoseconds: each * 0.5)
      return try bench.run(readers: readers, pause: pause, nanoseconds: each)
    }
    let alone = try stint(readers: 0)
    let rarely = try stint(readers: 1, pause: 1_000)
    let one = try stint(readers: 1)
    let four = try stint(readers: 4)
    try bench.checkElements()
    var measurement = Measurement(nanoseconds: alone.nanoseconds, actions: alone.changes)
    measurement.parts = [
      "alone": alone.nanosecondsPerChange, "rarely-read": rarely.nanosecondsPerChange,
      "1-reader": one.nanosecondsPerChange, "4-readers": four.nanosecondsPerChange,
      "1-reads": one.readsPerMicrosecond, "4-reads": four.readsPerMicrosecond,
    ]
    return measurement
  }
}

private final class SizedStateBench<Subject: ElementSubject>: Sendable {
  struct Stint {
    var nanoseconds: Double
    var changes: Int
    var reads: Int

    var nanosecondsPerChange: Double { nanoseconds / Double(max(1, changes)) }
    var readsPerMicrosecond: Double { Double(reads) / nanoseconds * 1e3 }
  }

  private let subject: Subject
  private let count: Int
  private let keys: Mutex<KeySequence>
  /// Changes of all stints.
  private let allChanges = Atomic(0)
  private let allReads = Atomic(0)
  private let torn = Atomic(0)

  init(_ subject: Subject, count: Int) {
    self.subject = subject
    self.count = count
    keys = Mutex(Self.keys(count))
  }

  private static func keys(_ count: Int) -> KeySequence { KeySequence(count: count, seed: 42) }

  /// Nanoseconds after which a change must have been lost.
  private static var patience: UInt64 { 120_000_000_000 }

  /// Makes all changes once more, in an array, and throws unless the subject has the same elements. Between stints.
  func checkElements() throws {
    let changes = allChanges.load(ordering: .relaxed)
    var expected = [UInt64](repeating: 0, count: count)
    var keys = Self.keys(count)
    for change in 0..<changes { expected[keys.next()] = UInt64(change + 1) }
    var (key, wrong) = (0, 0)
    subject.readEach(count) { note in
      if note.value != expected[key] || note.changes != UInt64(changes) || !note.isWhole { wrong += 1 }
      key += 1
    }
    guard key == count, wrong == 0 else {
      throw SubjectFailure("\(wrong) of \(key) elements are not what \(changes) changes make of them")
    }
  }

  /// - Parameter pause: Microseconds from one read to the next; nil reads without a pause.
  func run(readers: Int, pause: UInt32?, nanoseconds: Double) throws -> Stint {
    let sign = StopSign()
    allReads.store(0, ordering: .relaxed)
    let threads = try ProducerThreads(readers, on: nil) { [self] thread in
      read(UInt64(thread), until: sign, pause: pause)
    }
    threads.release()
    var keys = keys.withLock { $0 }
    let start = bl_now_ns()
    var (now, changes, chunk) = (start, 0, 1)
    // Chunks of about 200 µs, so that what a chunk costs a subject does not count: the task of an actor. A change may take some
    // nanoseconds, or some milliseconds.
    while Double(now - start) < nanoseconds {
      subject.change(chunk, &keys)
      changes += chunk
      let before = now
      now = bl_now_ns()
      if now - before < 200_000 { chunk = min(chunk * 2, 16_384) } else if chunk > 1 { chunk /= 2 }
    }
    // Only here: to wait after each chunk for a loop, on a machine whose cores the readers use, would measure how long a thread
    // waits for a core.
    let finished = Result { try subject.finishChanges(until: now + Self.patience) }
    now = bl_now_ns()
    sign.putUp()
    try finished.get()
    threads.join()
    allChanges.add(changes, ordering: .relaxed)
    self.keys.withLock { $0 = keys }
    let wrong = torn.load(ordering: .relaxed)
    guard wrong == 0 else {
      throw SubjectFailure("\(wrong) states that were read were torn, or older than the one before")
    }
    return Stint(
      nanoseconds: Double(now - start), changes: changes, reads: allReads.load(ordering: .relaxed))
  }

  private func read(_ thread: UInt64, until sign: StopSign, pause: UInt32?) {
    var reading = ElementReading(KeySequence(count: count, seed: thread &+ 7), until: sign, pause: pause)
    subject.readAll(&reading)
    allReads.add(reading.reads, ordering: .relaxed)
    torn.add(reading.wrong, ordering: .relaxed)
  }
}
