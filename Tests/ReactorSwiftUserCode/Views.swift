import Dispatch
import Foundation
import ReactorSwiftCompatibility

class PlayerController {
  var core = App.sharedCore
  var label = ""
  var updates = 0
  let levelLabel = LevelLabel()

  func viewDidAppear() {
    core.add(subscriber: self)
    core.add(subscriber: levelLabel) { state in state.player.level }
  }

  func viewDidDisappear() {
    core.remove(subscriber: self)
    core.remove(subscriber: levelLabel)
  }

  func didPressHit(_ monster: String) {
    core.fire(event: Hit(monster: monster, points: 5))
  }
}

extension PlayerController: Reactor.Subscriber {
  func update(with state: RPGState) {
    dispatchPrecondition(condition: .onQueue(.main))
    updates += 1
    label = "\(state.player.name) \(state.monsters.health.count)"
  }
}

class LevelLabel: Subscriber {
  var levels: [Int] = []

  func update(with level: Int) {
    levels.append(level)
  }
}

/// Plays the game, for the tests.
public enum Playthrough {
  /// Returns what the screen and the log showed.
  public static func play() -> [String] {
    App.reward.core = App.sharedCore
    let controller = DispatchQueue.main.sync { () -> PlayerController in
      let controller = PlayerController()
      controller.viewDidAppear()
      return controller
    }
    let isLoaded = DispatchSemaphore(value: 0)
    var levelAtLoad = 0
    App.sharedCore.fire(
      command: LoadPlayer(answered: { state in
        levelAtLoad = state.player.level
        isLoaded.signal()
      }))
    isLoaded.wait()
    while App.sharedCore.state.player.name == "nobody" { usleep(1000) }
    controller.didPressHit("orc")
    while App.sharedCore.state.player.level < 2 { usleep(1000) }
    controller.didPressHit("troll")
    controller.didPressHit("troll")
    while DispatchQueue.main.sync(execute: { controller.levelLabel.levels.last != 3 }) { usleep(1000) }
    return DispatchQueue.main.sync {
      controller.viewDidDisappear()
      return [
        "level \(levelAtLoad) at first", controller.label, "\(controller.updates) updates",
        "levels \(controller.levelLabel.levels)",
      ]
    } + LoggingMiddleware.log
  }
}
