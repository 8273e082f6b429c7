import BenchmarkSupport
import CBenchmarkLimits
import Glibc
import Synchronization

/// Measures an owner that reduces at full speed, alone and while others read; the readers while the owner rests; and all of
/// them together on all cores. All in one repetition, so that the figures may be divided by each other.
///
/// At first the owner has a core to itself, and the readers share the others. So what the owner loses, it loses because they
/// read, and not because they need its core. While it rests, the readers have all cores.
enum ReadersMeasurement {
  static let parts = [
    CaseOutline.Part("reads", .millionPerSecond, "M reads/s of all together, while the owner reduces"),
    CaseOutline.Part("owner", .millionPerSecond, "M actions/s of the owner meanwhile"),
    CaseOutline.Part("alone", .millionPerSecond, "M actions/s of the owner while nobody reads"),
    CaseOutline.Part("kept", .ratio, "the owner's speed while others read, of that while nobody does"),
    CaseOutline.Part("resting", .millionPerSecond, "M reads/s of all together, while the owner rests"),
    CaseOutline.Part(
      "floating", .millionPerSecond, "M reads/s of all together, while the owner has no core of its own"),
  ]

  static func run<Subject: ReadSubject>(
    _: Subject.Type, _ request: RepetitionRequest, _ instruments: Instruments
  ) throws -> Measurement {
    let cpus = instruments.cpus
    let (owner, others) = (cpus.ownersOnly, cpus.readersOnly)
    let experiment = try Experiment<Subject>(request)
    // In the order alone, both, both, alone, so that a slow change of the machine affects both alike.
    var alone = try experiment.run(readers: 0, owner: owner, others: others, share: 0.1)
    var both = try experiment.run(readers: request.producers, owner: owner, others: others, share: 0.15)
    both += try experiment.run(readers: request.producers, owner: owner, others: others, share: 0.15)
    alone += try experiment.run(readers: 0, owner: owner, others: others, share: 0.1)
    let resting = try experiment.run(readers: request.producers, owner: nil, others: cpus, share: 0.2)
    let floating = try experiment.run(readers: request.producers, owner: cpus, others: cpus, share: 0.3)
    var measurement = Measurement(nanoseconds: both.nanoseconds, actions: both.reads)
    measurement.parts = [
      "reads": both.readsPerMicrosecond, "owner": both.actionsPerMicrosecond,
      "alone": alone.actionsPerMicrosecond,
      "resting": resting.readsPerMicrosecond, "floating": floating.readsPerMicrosecond,
    ]
    // An owner that never ran while it was alone, on a machine with much other work, has no ratio: no report can hold the
    // infinity, and the whole one would be lost.
    if alone.actions > 0 {
      measurement.parts["kept"] = both.actionsPerMicrosecond / alone.actionsPerMicrosecond
    }
    return measurement
  }
}

/// The work of one part of a repetition.
private struct Stint {
  var nanoseconds: Double
  var actions: UInt64
  var reads: Int

  static func += (sum: inout Stint, other: Stint) {
    sum.nanoseconds += other.nanoseconds
    sum.actions += other.actions
    sum.reads += other.reads
  }

  /// The same as millions per second.
  var actionsPerMicrosecond: Double { Double(actions) / nanoseconds * 1e3 }
  var readsPerMicrosecond: Double { Double(reads) / nanoseconds * 1e3 }
}

private struct Experiment<Subject: ReadSubject> {
  /// The number of reads between two checks of the sign.
  private static var chunk: Int { 64 }

  private let sign = StopSign()
  private let subject: Subject
  private let duration: Double

  init(_ request: RepetitionRequest) throws {
    subject = try Subject(sign)
    duration = request.duration
  }

  /// - Parameters:
  ///   - owner: The CPUs of the owner; nil if it rests.
  ///   - share: The part of the repetition's time.
  func run(readers: Int, owner: CPUSet?, others: CPUSet, share: Double) throws -> Stint {
    let (subject, sign, seen) = (subject, sign, NotesOfAll())
    sign.takeDown()
    let owners = owner == nil ? 0 : 1
    @Sendable func work(_ thread: Int) {
      subject.enterThread()
      if thread < owners {
        subject.own()
      } else {
        seen.add(Self.read(subject, until: sign))
      }
      subject.leaveThread()
    }
    let threads = try ProducerThreads(owners + readers, on: { $0 < owners ? owner : others }, work)
    let before = count
    let start = bl_now_ns()
    threads.release()
    usleep(UInt32(max(1, duration * share / 1000)))
    sign.putUp()
    let end = bl_now_ns()
    threads.join()
    let after = count
    for notes in seen.all { try notes.check(upTo: after, isAtRest: owner == nil) }
    return Stint(
      nanoseconds: Double(end - start), actions: after - before,
      reads: seen.all.reduce(0) { $0 + $1.reads })
  }

  private static func read(_ subject: Subject, until sign: StopSign) -> ReaderNotes {
    var notes = ReaderNotes()
    while !sign.isUp {
      for _ in 0..<chunk { subject.read { notes.note($0) } }
    }
    return notes
  }

  /// The number of actions that have been reduced.
  private var count: UInt64 {
    var count: UInt64 = 0
    subject.enterThread()
    subject.read { count = $0.count }
    subject.leaveThread()
    return count
  }
}

/// The notes of several readers.
private final class NotesOfAll: Sendable {
  private let notes = Mutex<[ReaderNotes]>([])

  var all: [ReaderNotes] { notes.withLock { $0 } }

  func add(_ added: ReaderNotes) { notes.withLock { $0.append(added) } }
}
