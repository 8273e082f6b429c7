import ReactorRuntime
import TestSupport
import Testing

/// map, compactMap, filter, ignoreElements and scan.
@Suite struct MappingTests {
  private struct User: Sendable, Equatable { var name: String }

  private enum Mutation: Sendable {
    case setUser(User)
    case clear
  }

  @Test func `map transforms elements one by one`() {
    #expect(events(of: Observable.of(1, 2).map { $0 * 10 }) == ["next(10)", "next(20)", "completed"])
    #expect(events(of: Observable<Int>.error(TestFailure()).map { $0 }) == ["error(failure)"])
    #expect(events(of: Observable<Int>.empty().map { $0 }) == ["completed"])
  }

  @Test func `map takes key paths and case constructors`() {
    let users = Observable.just(User(name: "Ada"))
    #expect(events(of: users.map(\.name)) == ["next(Ada)", "completed"])
    let mutations = Record<Mutation>()
    users.map(Mutation.setUser).subscribe(onNext: { mutations.append($0) })
    guard case .setUser(let user) = mutations.elements.first else { return #expect(Bool(false)) }
    #expect(user.name == "Ada")
  }

  @Test func `compactMap leaves out nil and filter what does not match`() {
    #expect(
      events(of: Observable.of("1", "x", "3").compactMap { Int($0) }) == ["next(1)", "next(3)", "completed"])
    #expect(
      events(of: Observable.of(1, 2, 3, 4).filter { $0.isMultiple(of: 2) })
        == ["next(2)", "next(4)", "completed"])
    #expect(events(of: Observable.of(1, 2).ignoreElements()) == ["completed"])
    #expect(events(of: Observable<Int>.error(TestFailure()).ignoreElements()) == ["error(failure)"])
  }

  @Test func `scan sends each result but not the seed`() {
    #expect(
      events(of: Observable.of(1, 2, 3).scan(10) { $0 + $1 })
        == ["next(11)", "next(13)", "next(16)", "completed"])
    #expect(
      events(of: Observable.of(1, 2).scan(into: [0]) { $0.append($1) })
        == ["next([0, 1])", "next([0, 1, 2])", "completed"])
  }

  @Test func `each subscription of scan begins with the seed`() {
    let sums = Observable.of(1, 2).scan(0) { $0 + $1 }
    #expect(events(of: sums) == events(of: sums))
  }

  /// The operators with a closure that throws at 2.
  private static let throwing: [(String, @Sendable (Observable<Int>) -> Observable<Int>)] = [
    ("map", { $0.map { try check($0) } }),
    ("compactMap", { $0.compactMap { try check($0) } }),
    ("filter", { $0.filter { try check($0) > 0 } }),
    ("scan", { $0.scan(0) { try check($1 + $0 * 0) } }),
    ("scan(into:)", { $0.scan(into: 0) { $0 = try check($1) } }),
    ("distinctUntilChanged", { $0.distinctUntilChanged { try check($0) } }),
    ("take(while:)", { $0.take(while: { try check($0) > 0 }) }),
    ("skip(while:)", { $0.skip(while: { try check($0) > 0 }).startWith(1) }),
    ("do", { $0.do(onNext: { _ = try check($0) }) }),
    ("flatMap", { $0.flatMap { Observable.just(try check($0)) } }),
    ("flatMapFirst", { $0.flatMapFirst { Observable.just(try check($0)) } }),
    ("flatMapLatest", { $0.flatMapLatest { Observable.just(try check($0)) } }),
    ("combineLatest", { .combineLatest($0, Observable.just(0)) { try check($0 + $1) } }),
    ("combineLatest of a list", { .combineLatest([$0]) { try check($0[0]) } }),
    ("withLatestFrom", { $0.withLatestFrom(Observable.just(0)) { try check($0 + $1) } }),
  ]

  private static func check(_ number: Int) throws -> Int {
    if number == 2 { throw TestFailure("two") }
    return number
  }

  @Test(arguments: throwing.indices)
  func `a closure that throws fails the stream and disposes of the source`(index: Int) {
    let (name, build) = Self.throwing[index]
    let feed = Feed<Int>()
    let record = Record<String>()
    let subscription = record.observe(build(feed.stream))
    feed.next(1)
    feed.next(2)
    #expect(feed.subscriptions == 0, "\(name)")
    feed.next(3)
    #expect(record.elements == ["next(1)", "error(two)"], "\(name)")
    subscription.dispose()
  }
}
