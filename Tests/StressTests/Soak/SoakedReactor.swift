import ReactorCore
import ReactorRuntime
import Synchronization
import TestSupport

/// A reactor of the soak. It checks its actions, and sends to others from inside its turns.
final class SoakedReactor: Reactor {
  typealias Action = Parcel

  struct Mutation: Sendable {
    var parcel: Parcel
    var isEcho = false
  }

  struct State: Sendable {
    var reduced = 0
    var copies = [0, 0]
    /// Keeps a parcel alive as long as the state.
    var newest: Parcel?

    var isWhole: Bool { copies == [reduced, reduced] }
  }

  let initialState = State()
  let runtime: Runtime<Parcel, Mutation, State>
  private let number: Int
  private let tally: ParcelTally
  /// Has the other reactors. Weak, because the board holds the reactors.
  private let board: WeakBoard
  private let token: LifetimeTracked

  // Accessed by the owner only. Only the runtime's guarantee guards it, so that ThreadSanitizer reports a race if
  // that is broken.
  nonisolated(unsafe) private var newest: [Int: Int] = [:]
  nonisolated(unsafe) private var generator: SplitMix64
  nonisolated(unsafe) private var sent = 0
  nonisolated(unsafe) private var isInside = false

  init(
    _ number: Int, on placement: Placement, capacity: Int, overflow: OverflowPolicy,
    reentrantCapacity: Int, board: SoakBoard, generator: SplitMix64
  ) {
    self.number = number
    tally = board.tally
    self.board = WeakBoard(board)
    token = board.reactors.track()
    self.generator = generator
    runtime = Runtime(
      on: placement, capacity: capacity, overflow: overflow, reentrantCapacity: reentrantCapacity,
      onFailure: { [tally] failure in Self.note(failure, tally) })
  }

  private static func note(_ failure: Failure, _ tally: ParcelTally) {
    guard let parcel = failure.action as? Parcel, let reason = failure.sendError else {
      preconditionFailure("\(failure)")
    }
    // An echo was recorded when `mutate` received it. Its mutation is not counted again.
    if case .mutationNotDelivered = failure.cause, case .echo = parcel.order { return }
    parcel.noteRefused(reason)
  }

  func mutate(action: Parcel) -> Observable<Mutation> {
    if isInside { tally.overlaps.add(1, ordering: .relaxed) }
    isInside = true
    defer { isInside = false }
    if let last = newest[action.sender], last >= action.sequence {
      tally.reordered.add(1, ordering: .relaxed)
    }
    newest[action.sender] = action.sequence
    if action.hops > 0 { passOn(hops: action.hops - 1) }
    switch action.order {
    case .reduce:
      return .just(Mutation(parcel: action))
    case .close(let closing):
      close(closing)
      return .just(Mutation(parcel: action))
    case .echo:
      action.noteReduced()
      return echo(of: action)
    }
  }

  private func passOn(hops: Int) {
    sent += 1
    guard let board = board.board, let other = board.pick(&generator) else { return }
    let parcel = Parcel(from: number, sent, hops: hops, by: tally)
    Sending.fromATurn(&generator).send(parcel, to: other)
  }

  /// Returns a stream that emits from a loop's job, or from another thread, and may be disposed of before that.
  private func echo(of parcel: Parcel) -> Observable<Mutation> {
    let loop = board.board?.pickLoop(&generator)
    return .create { observer in
      let emit: @Sendable () -> Void = {
        observer.onNext(Mutation(parcel: parcel, isEcho: true))
        observer.onCompleted()
      }
      do { try loop?.execute(emit) } catch { emit() }
      return Disposables.create()
    }
  }

  func reduce(into state: inout State, mutation: Mutation) {
    state.reduced += 1
    state.copies = [state.reduced, state.reduced]
    state.newest = mutation.parcel
    if !mutation.isEcho { mutation.parcel.noteReduced() }
  }
}

/// One way of sending.
enum Sending: CaseIterable {
  case send, subject, trySend, before

  static func random(_ generator: inout SplitMix64) -> Sending { allCases[generator.below(allCases.count)] }

  /// Mostly `send`, which never waits inside a turn.
  static func fromATurn(_ generator: inout SplitMix64) -> Sending {
    generator.happens(onceIn: 4) ? random(&generator) : .send
  }

  func send(_ parcel: Parcel, to reactor: SoakedReactor) {
    do throws(SendError) {
      switch self {
      case .send: reactor.send(parcel)
      case .subject: reactor.action.onNext(parcel)
      case .trySend: try reactor.trySend(parcel)
      case .before: try reactor.send(parcel, before: .now + .microseconds(500))
      }
    } catch {
      parcel.noteRefused(error)
    }
  }
}
