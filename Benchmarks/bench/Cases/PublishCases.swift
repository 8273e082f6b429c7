import BenchmarkSupport
import ReactorCore

/// What it costs to show a state to readers, of which there are none, by its size: after each action, or
/// after a turn of up to 1024.
extension Catalogue {
  static let publishing: [Case] = [
    publishing("publish.16", of: SmallState.self),
    publishing("publish.256", of: WideState.self),
    publishing("publish.array", of: ArrayState.self),
  ]

  private static func publishing<State: SizedState>(_ name: String, of: State.Type) -> Case {
    Case(
      name, .synchronous,
      variants: [
        .onCore(SizedReactorSubject<State>.self, hasOrder: false),
        .onCore(LongTurnsSubject<State>.self, suffix: "-long-turns", hasOrder: false),
        .subject("pthread-mutex", SizedMutexBaseline<State>.self, hasOrder: false),
        .subject("plain", SizedPlainBaseline<State>.self, hasOrder: false),
      ])
  }
}
