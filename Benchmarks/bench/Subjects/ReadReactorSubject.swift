import CBenchmarkLimits
import ReactorCore
import ReactorRuntime

/// A reactor that sends itself the next action for each one, so that its turns are as long as possible. Its state is read
/// in one of two ways.
final class ReadReactorSubject<Way: ReadingWay>: ReadSubject {
  private final class SelfSendingReactor: Reactor {
    let initialState = ReadState()
    let runtime = Runtime<UInt64, UInt64, ReadState>(on: .caller)
    private let sign: StopSign

    init(_ sign: StopSign) { self.sign = sign }

    func mutate(action: UInt64) -> Observable<UInt64> {
      // The first one is counted by the owner: a reader may not see the newest state yet, if readers hold all slots.
      let action = action == 0 ? currentState.count &+ 1 : action
      if !sign.isUp { send(action &+ 1) }
      return .just(action)
    }

    func reduce(into state: inout ReadState, mutation: UInt64) { state.add(mutation) }
  }

  private let reactor: SelfSendingReactor

  init(_ sign: StopSign) { reactor = SelfSendingReactor(sign) }

  func own() { reactor.send(0) }

  @inline(__always)
  func read(_ body: (ReadState) -> Void) { Way.read(reactor, body) }
}

/// A reactor that gets one action after the other, so that it publishes each: as a lock makes each action visible. Its owner
/// computes before each action, as that of a lock does.
///
/// Generic as the one above: the read of a class that is not is called, and not inlined, which would take four times as long.
final class ReadTurnsOfOneSubject<Way: ReadingWay>: ReadSubject {
  private final class CountingReactor: Reactor {
    let initialState = ReadState()
    let runtime = Runtime<UInt64, UInt64, ReadState>(on: .caller)

    func reduce(into state: inout ReadState, mutation: UInt64) { state.addNext() }
  }

  private let reactor = CountingReactor()
  private let sign: StopSign

  init(_ sign: StopSign) { self.sign = sign }

  func own() {
    var work: UInt64 = 1
    while !sign.isUp {
      work = bl_compute(work)
      reactor.send(0)
    }
  }

  @inline(__always)
  func read(_ body: (ReadState) -> Void) { Way.read(reactor, body) }
}

/// How a state is read.
protocol ReadingWay: Sendable {
  static func read<R: Reactor>(_ reactor: R, _ body: (R.State) -> Void)
}

/// By `withCurrentState`, which borrows the state.
enum Borrowed: ReadingWay {
  @inline(__always)
  static func read<R: Reactor>(_ reactor: R, _ body: (R.State) -> Void) { reactor.withCurrentState(body) }
}

/// By `currentState`, which copies the state.
enum Copied: ReadingWay {
  @inline(__always)
  static func read<R: Reactor>(_ reactor: R, _ body: (R.State) -> Void) { body(reactor.currentState) }
}
