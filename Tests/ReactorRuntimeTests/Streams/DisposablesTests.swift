import ReactorRuntime
import TestSupport
import Testing

/// The kinds of disposables.
@Suite struct DisposablesTests {
  private let ended = Record<String>()

  private func named(_ name: String) -> any Disposable {
    Disposables.create { [ended] in ended.append(name) }
  }

  @Test func `what is set before or after the disposal is disposed of, once`() {
    let before = SingleAssignmentDisposable()
    before.setDisposable(named("before"))
    #expect(!before.isDisposed)
    #expect(ended.elements == [])
    before.dispose()
    before.dispose()
    #expect(before.isDisposed)
    let after = SingleAssignmentDisposable()
    after.dispose()
    after.setDisposable(named("after"))
    #expect(ended.elements == ["before", "after"])
  }

  @Test func `members are disposed of in the order in which they were given`() {
    CompositeDisposable(named("a"), named("b")).dispose()
    CompositeDisposable(named("c"), named("d"), named("e"), named("f")).dispose()
    CompositeDisposable(disposables: [named("g"), named("h")]).dispose()
    #expect(ended.elements == ["a", "b", "c", "d", "e", "f", "g", "h"])
  }

  @Test func `a member is removed by its key, and disposed of`() throws {
    let members = CompositeDisposable(named("a"), named("b"))
    let key: CompositeDisposable.DisposeKey = try #require(members.insert(named("c")))
    members.remove(for: key)
    #expect(ended.elements == ["c"])
    #expect(members.count == 2)
    members.dispose()
    #expect(ended.elements == ["c", "a", "b"])
    #expect(members.insert(named("d")) == nil)
    #expect(ended.elements == ["c", "a", "b", "d"])
  }

  @Test func `each kind says whether it was disposed of`() {
    let kinds: [any Cancelable] = [
      BooleanDisposable(), CompositeDisposable(), SerialDisposable(), SingleAssignmentDisposable(),
    ]
    for kind in kinds {
      #expect(!kind.isDisposed)
      kind.dispose()
      #expect(kind.isDisposed)
    }
    #expect(BooleanDisposable(isDisposed: true).isDisposed)
  }
}
