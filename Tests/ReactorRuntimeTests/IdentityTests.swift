import ReactorRuntime
import Testing

/// Tests of objects that are compared by identity.
@Suite struct IdentityTests {
  final class Tally: Reactor, IdentityHashable {
    typealias Action = Int
    let initialState = 0
    let runtime = Runtime<Int, Int, Int>()
    func reduce(into state: inout Int, mutation: Int) {}
  }

  final class Note: IdentityEquatable {
    let text: String
    init(_ text: String) { self.text = text }
  }

  @Test func `an object is equal to itself only`() {
    let note = Note("a")
    let same = note
    #expect(note == same)
    #expect(note != Note("a"))
  }

  @Test func `a set distinguishes reactors by identity`() {
    let (one, other) = (Tally(), Tally())
    let same = one
    #expect(one.hashValue == same.hashValue)
    #expect(Set([one, other, same]).count == 2)
    one.send(1)
    #expect(Set([one]).contains(same))
  }

  @Test func `the states of a reactor are one stream`() {
    let (one, other) = (Tally(), Tally())
    #expect(one.state === one.state)
    #expect(one.state !== other.state)
    #expect(one.state.map { $0 } !== one.state)
    let states = one.state
    one.isStubEnabled = true
    #expect(one.state === one.state)
    #expect(one.state !== states)
    one.isStubEnabled = false
    #expect(one.state === states)
    let subject = PublishSubject<Int>()
    #expect(subject.asObservable() === subject.asObservable())
  }
}
