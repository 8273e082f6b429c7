import Dispatch
import ReactorSwiftCompatibility

// A game as it is written for ReactorSwift: nothing here knows of Sendable, and only the import differs.

struct LevelUp: Event {}

struct Hit: Event {
  var monster: String
  var points: Int
}

struct Update<T>: Event {
  var newValue: T
}

class Sword {
  var sharpness = 1
}

struct Player: State {
  var name = "nobody"
  var level = 1
  var sword = Sword()

  mutating func react(to event: Event) {
    switch event {
    case _ as LevelUp: level += 1
    case let update as Update<String>: name = update.newValue
    default: break
    }
  }
}

struct Monsters: State {
  var health = ["troll": 10, "orc": 3]

  mutating func react(to event: Event) {
    guard let hit = event as? Hit, let health = self.health[hit.monster] else { return }
    self.health[hit.monster] = health > hit.points ? health - hit.points : nil
  }
}

struct RPGState: State {
  var player = Player()
  var monsters = Monsters()

  mutating func react(to event: Event) {
    player.react(to: event)
    monsters.react(to: event)
  }
}

/// Asks for the player's name, and fires it when it has come.
struct LoadPlayer: Command {
  var server = DispatchQueue(label: "server")
  var answered: (RPGState) -> Void = { _ in }

  func execute(state: RPGState, core: Core<RPGState>) {
    answered(state)
    server.asyncAfter(deadline: .now() + .milliseconds(5)) {
      core.fire(event: Update(newValue: "Ada"))
    }
  }
}

/// Levels the player up when a monster is dead.
class RewardMiddleware: Middleware {
  weak var core: Core<RPGState>?
  var monsters = 2

  func process(event: Event, state: RPGState) {
    guard state.monsters.health.count < monsters else { return }
    monsters = state.monsters.health.count
    core?.fire(event: LevelUp())
  }
}

struct LoggingMiddleware: Middleware {
  static var log: [String] = []

  func process(event: Event, state: State) {
    switch event {
    case _ as LevelUp: LoggingMiddleware.log.append("leveled up")
    case let hit as Hit: LoggingMiddleware.log.append("hit the \(hit.monster)")
    default: LoggingMiddleware.log.append("other")
    }
  }
}

enum App {
  static let reward = RewardMiddleware()
  static let sharedCore = Core(state: RPGState(), middlewares: [LoggingMiddleware(), reward])
}
