import ReactorSwiftUserCode
import Testing

/// Code as it is written for ReactorSwift.
@Suite struct UserCodeTests {
  @Test
  func
    `a game written for ReactorSwift compiles in Swift 5 mode with its import changed, and plays as there`()
  {
    #expect(
      Playthrough.play() == [
        "level 1 at first", "Ada 0", "7 updates", "levels [1, 1, 1, 2, 2, 2, 3]", "other", "hit the orc",
        "leveled up", "hit the troll", "hit the troll", "leveled up",
      ])
  }
}
