import Dispatch
import ReactorSwiftCompatibility
import Synchronization
import TestSupport
import Testing

/// The kinds of code that ReactorSwift's README shows, in Swift 6 mode, with the edits that the article "Migrating from
/// ReactorSwift" names. The article quotes this file.
@Suite struct MigratingFromReactorSwiftSnippets {
  struct LevelUp: Event {}

  struct Player: State {
    var name = "nobody"
    var level = 1

    mutating func react(to event: any Event) {
      switch event {
      case is LevelUp: level += 1
      case let rename as Rename: name = rename.name
      default: break
      }
    }
  }

  struct Rename: Event {
    var name: String
  }

  struct RPGState: State {
    var player = Player()
    var events = 0

    mutating func react(to event: any Event) {
      player.react(to: event)
      events += 1
    }
  }

  // A command is Sendable: what it captures, too.
  struct LoadName: Command {
    let load: @Sendable (@escaping @Sendable (String) -> Void) -> Void

    func execute(state: RPGState, core: Core<RPGState>) {
      load { name in core.fire(event: Rename(name: name)) }
    }
  }

  // A middleware without variables is Sendable by itself.
  struct LoggingMiddleware: Middleware {
    let print: @Sendable (String) -> Void

    func process(event: any Event, state: RPGState) {
      if event is LevelUp { print("level \(state.player.level)") }
    }
  }

  // One with variables guards them.
  final class CountingMiddleware: Middleware {
    let count = Atomic(0)

    func process(event: any Event, state: RPGState) { count.add(1, ordering: .relaxed) }
  }

  // A view: the main queue, on which it is updated by default, is the main actor's.
  @MainActor
  final class PlayerView {
    let core: Core<RPGState>
    var label = ""

    init(core: Core<RPGState>) { self.core = core }

    func appear() { core.add(subscriber: self) }
    func disappear() { core.remove(subscriber: self) }
    func pressLevelUp() { core.fire(event: LevelUp()) }
  }

  @Test func `the README's kinds of code work in Swift 6 mode`() async throws {
    let log = Record<String>()
    let counting = CountingMiddleware()
    let core = Core(state: RPGState(), middlewares: [LoggingMiddleware { log.append($0) }, counting])
    let view = await PlayerView(core: core)
    await view.appear()
    core.fire(
      command: LoadName { deliver in
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(5)) { deliver("Ada") }
      })
    await view.pressLevelUp()
    while await view.label != "Ada 2" { try await Task.sleep(for: .milliseconds(1)) }
    await view.disappear()
    await view.pressLevelUp()
    while counting.count.load(ordering: .relaxed) < 3 { try await Task.sleep(for: .milliseconds(1)) }
    #expect(await view.label == "Ada 2")
    #expect(log.elements == ["level 2", "level 3"])
    #expect(core.state.events == 3)
  }

  final class LevelMeter: Subscriber {
    let levels = Record<Int>()
    func update(with level: Int) { levels.append(level) }
  }

  @Test func `a selector gives a subscriber a part of the state`() {
    let core = Core(state: RPGState())
    let meter = LevelMeter()
    let queue = DispatchQueue(label: "meters")
    core.add(subscriber: meter, notifyOnQueue: queue) { state in state.player.level }
    core.fire(event: LevelUp())
    core.fire(event: Rename(name: "Ada"))
    while core.state.player.name != "Ada" {}
    while meter.levels.elements.count < 3 {}
    core.remove(subscriber: meter)
    #expect(meter.levels.elements == [1, 2, 2])
  }
}

extension MigratingFromReactorSwiftSnippets.PlayerView: @preconcurrency Subscriber {
  func update(with state: MigratingFromReactorSwiftSnippets.RPGState) {
    label = "\(state.player.name) \(state.player.level)"
  }
}
