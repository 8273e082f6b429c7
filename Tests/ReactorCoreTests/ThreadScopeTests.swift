import ReactorCore
import TestSupport
import Testing

/// The objects that a thread is inside of.
@Suite struct ThreadScopeTests {
  private final class Room: Sendable {}
  private final class Box: Sendable {}

  @Test func `objects are found by type with the innermost first`() {
    let (outer, inner, box) = (Room(), Room(), Box())
    #expect(ThreadScope.objects(Room.self).isEmpty)
    ThreadScope.enter(outer) {
      ThreadScope.enter(box) {
        ThreadScope.enter(inner) {
          #expect(ThreadScope.objects(Room.self).map { $0 === inner } == [true, false])
          #expect(ThreadScope.innermost(Room.self) === inner)
          #expect(ThreadScope.innermost(Box.self) === box)
        }
        #expect(ThreadScope.innermost(Room.self) === outer)
      }
    }
    #expect(ThreadScope.innermost(Room.self) == nil)
    #expect(ThreadScope.innermost(Box.self) == nil)
  }

  @Test func `ThreadScope.leaveAll hides all objects`() {
    let (outer, inner) = (Room(), Room())
    ThreadScope.enter(outer) {
      ThreadScope.leaveAll {
        #expect(ThreadScope.objects(Room.self).isEmpty)
        ThreadScope.enter(inner) { #expect(ThreadScope.objects(Room.self).map { $0 === inner } == [true]) }
      }
      #expect(ThreadScope.innermost(Room.self) === outer)
    }
  }

  @Test func `threads do not share their scopes`() {
    let room = Room()
    ThreadScope.enter(room) {
      let hasEnded = Threads.start { #expect(ThreadScope.objects(Room.self).isEmpty) }
      #expect(hasEnded.wait())
    }
  }
}
